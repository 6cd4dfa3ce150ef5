// Reads the names by which operators know an endpoint: its URL, and the name of its account.
import { Account } from '#libs/models/accounts/account.ts';
import { acrossAccounts, type StoredId } from '#libs/models/tenant.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';

export interface EndpointNames {
  /** URLs by the id of the endpoint. A deleted endpoint has none. */
  urls: Map<string, string>;
  /** Names by the id of the account. */
  accounts: Map<string, string>;
}

/** Reads the names for the rows of one page. */
export async function readEndpointNames(
  rows: readonly { endpoint_id: StoredId; account_id: StoredId }[],
): Promise<EndpointNames> {
  const [endpoints, accounts] = await Promise.all([
    WebhookEndpoint.find({ _id: { $in: rows.map(({ endpoint_id }) => endpoint_id) } })
      .setOptions(acrossAccounts)
      .select({ url: 1 })
      .lean<{ _id: StoredId; url: string }[]>(),
    readAccountNames(rows),
  ]);
  return {
    urls: new Map(endpoints.map(({ _id, url }) => [String(_id), url])),
    accounts,
  };
}

/** Reads the names of the accounts of the rows, by id. */
export async function readAccountNames(rows: readonly { account_id: StoredId }[]): Promise<Map<string, string>> {
  const accounts = await Account.find({ _id: { $in: rows.map(({ account_id }) => account_id) } })
    .select({ name: 1 })
    .lean<{ _id: StoredId; name: string }[]>();
  return new Map(accounts.map(({ _id, name }) => [String(_id), name]));
}
