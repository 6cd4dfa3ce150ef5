// Which keys the signing secrets in the database are sealed with, and sealing them anew so that an old key can go.

import { acrossAccounts, type Id } from '#libs/models/tenant.ts';
import { formerSecrets } from '#libs/models/webhooks/endpoint-secrets.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { keyIdOf, type SecretBox } from '#libs/secret-box.ts';

type Sealed = Pick<WebhookEndpointRecord, '_id' | 'account_id' | 'secret' | 'previous_secrets'>;

/** @returns how many secrets there are by the id of the key that opens them; of all accounts, the keys are the system's. */
export async function countSecretsByKey(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const { secret, previous_secrets } of endpoints({})) {
    for (const sealed of [secret, ...(previous_secrets ?? []).map((former) => former.secret)])
      counts.set(keyIdOf(sealed), (counts.get(keyIdOf(sealed)) ?? 0) + 1);
  }
  return counts;
}

export interface Resealing {
  /** Endpoints whose secrets are under the first key now. */
  resealed: number;
  /** Endpoints whose secrets no key in the list opens. */
  unreadable: Id[];
}

/**
 * Seals every secret anew that is not sealed with the first key. May run while the services do, and again at any time: what
 * is changed meanwhile is left as it is and looked at once more.
 * @param onProgress gets how many endpoints are done, after each.
 */
export async function resealSecrets(box: SecretBox, onProgress: (done: number) => void): Promise<Resealing> {
  const isOld = { $not: new RegExp(`^${box.keyIds[0]}\\.`) };
  const needsIt = { $or: [{ secret: isOld }, { previous_secrets: { $elemMatch: { secret: isOld } } }] };
  const unreadable = new Set<Id>();
  let resealed = 0;
  for (;;) {
    let found = 0;
    for await (const endpoint of endpoints({ ...needsIt, _id: { $nin: [...unreadable] } })) {
      found += 1;
      const update = anew(endpoint, box);
      if (!update) {
        unreadable.add(String(endpoint._id));
        continue;
      }
      // Only what was read: a secret that its owner has rotated since must not come back.
      const { _id, account_id, secret, previous_secrets } = endpoint;
      const unchanged = { _id, account_id, secret, previous_secrets: previous_secrets ?? { $exists: false } };
      const { modifiedCount } = await WebhookEndpoint.updateOne(unchanged, update);
      resealed += modifiedCount;
      onProgress(resealed);
    }
    if (found === 0) return { resealed, unreadable: [...unreadable] };
  }
}

/** @returns undefined when no key opens it. */
function anew(endpoint: Sealed, box: SecretBox) {
  try {
    const secret = box.seal(box.open(endpoint.secret));
    if (!endpoint.previous_secrets) return { $set: { secret } };
    // What signs nothing any more is dropped: its key may be gone for good.
    const previous_secrets = formerSecrets(endpoint).map((former) => ({
      ...former,
      secret: box.seal(box.open(former.secret)),
    }));
    return { $set: { secret, previous_secrets } };
  } catch {
    return undefined;
  }
}

function endpoints(filter: object): AsyncIterable<Sealed> {
  return WebhookEndpoint.find(filter)
    .setOptions(acrossAccounts)
    .select({ account_id: 1, secret: 1, previous_secrets: 1 })
    .lean<Sealed[]>()
    .cursor() as AsyncIterable<Sealed>;
}
