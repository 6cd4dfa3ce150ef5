// The operator's search for deliveries of all accounts: by id, state, cause of failure and time.
import { Account } from '#libs/models/accounts/account.ts';
import { acrossAccounts, type Id, isId, storedId } from '#libs/models/tenant.ts';
import { Delivery, type DeliveryRecord, type DeliveryStatus } from '#libs/models/webhooks/delivery.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';

export interface DeliverySearch {
  /** The id of a delivery, its event, endpoint, account or request. */
  id?: string | undefined;
  endpointId?: Id | undefined;
  statuses?: DeliveryStatus[] | undefined;
  eventType?: string | undefined;
  /** The cause in the form of FailureGroup. */
  cause?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** The time limit of every operator's query. A search that is too wide must not load the database for minutes. */
export const SEARCH_LIMIT_MS = 5_000;
const ALL: DeliveryStatus[] = ['pending', 'delivered', 'dead', 'held'];

/** Returns matches, newest first. */
export async function searchDeliveries(search: DeliverySearch, page: { skip: number; limit: number }) {
  return (
    Delivery.find(await filterOf(search))
      .setOptions(acrossAccounts)
      // The page of one delivery shows the heads. A list of them could have a megabyte.
      .select({ 'attempts.response_headers': 0 })
      .maxTimeMS(SEARCH_LIMIT_MS)
      .sort({ created_at: -1, _id: -1 })
      .skip(page.skip)
      .limit(page.limit)
      .lean<DeliveryRecord[]>()
  );
}

/** Counts matches up to `max`. */
export async function countDeliveries(search: DeliverySearch, max: number): Promise<number> {
  return Delivery.countDocuments(await filterOf(search), { limit: max, maxTimeMS: SEARCH_LIMIT_MS }).setOptions(
    acrossAccounts,
  );
}

/** Returns the next matches of a run: those unchanged since `before`, ordered by id, after `position`. */
export async function nextDeliveries(
  search: DeliverySearch,
  run: { before: Date; position: string | undefined; limit: number },
): Promise<Pick<DeliveryRecord, '_id' | 'account_id'>[]> {
  const after = run.position ? [{ _id: { $gt: storedId(run.position) } }] : [];
  // mongoose cannot compare UUIDs in a filter, so this is a pipeline.
  return Delivery.aggregate<Pick<DeliveryRecord, '_id' | 'account_id'>>([
    { $match: { $and: [await filterOf(search), { updated_at: { $lte: run.before } }, ...after] } },
    { $sort: { _id: 1 } },
    { $limit: run.limit },
    { $project: { account_id: 1 } },
  ]).option({ ...acrossAccounts, maxTimeMS: SEARCH_LIMIT_MS } as object);
}

/** Returns the filter with values as they are stored, because pipelines are not cast. */
async function filterOf(search: DeliverySearch) {
  const { endpointId, eventType, cause, from, to } = search;
  const [errorClass, status] = cause?.split(' ') ?? [];
  return {
    // The status is always present, because it is the first field of the index that the search uses.
    status: { $in: search.statuses?.length ? search.statuses : ALL },
    ...(from || to ? { created_at: { ...(from ? { $gte: from } : {}), ...(to ? { $lt: to } : {}) } } : {}),
    ...(endpointId ? { endpoint_id: storedId(endpointId), account_id: await accountOf(endpointId) } : {}),
    ...(eventType ? { event_type: eventType } : {}),
    // This comes after the endpoint, so that a search for an account also finds deliveries to deleted endpoints.
    ...(search.id ? await filterOfId(search.id) : {}),
    ...(errorClass ? { $expr: { $and: causeIs(errorClass, status) } } : {}),
  };
}

/**
 * Returns the account of the endpoint. If there is no endpoint, an unused account id makes nothing match, unless the
 * search names the account too.
 */
async function accountOf(endpointId: Id) {
  const endpoint = await WebhookEndpoint.findOne({ _id: endpointId }).setOptions(acrossAccounts).lean();
  return endpoint?.account_id ?? storedId('00000000-0000-0000-0000-000000000000');
}

/** Returns the filter for an id, whose kind decides the index. The id of a request has none and needs a narrow time. */
async function filterOfId(id: string) {
  if (isId(id)) {
    if (await Delivery.exists({ _id: id }).setOptions(acrossAccounts)) return { _id: storedId(id) };
    if (await Account.exists({ _id: id })) return { account_id: storedId(id) };
    const endpoint = await WebhookEndpoint.findOne({ _id: id }).setOptions(acrossAccounts).lean();
    if (endpoint) return { account_id: endpoint.account_id, endpoint_id: storedId(id) };
    const event = await Event.findOne({ _id: id }).setOptions(acrossAccounts).lean();
    if (event) return { account_id: event.account_id, event_id: storedId(id) };
  }
  return { request_id: id };
}

/**
 * Returns a field of the last attempt. The last of `$attempts.field` would not do, because that leaves out attempts
 * without the field.
 */
export const lastOf = (field: string) => ({ $let: { vars: { last: { $last: '$attempts' } }, in: `$$last.${field}` } });

function causeIs(errorClass: string, status: string | undefined) {
  return [
    { $eq: [lastOf('error_class'), errorClass] },
    ...(status ? [{ $eq: [lastOf('response_status'), Number(status)] }] : []),
  ];
}
