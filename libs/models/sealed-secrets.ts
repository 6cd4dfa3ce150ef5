// Which keys the signing secrets in the database are sealed with, and sealing them anew so that an old key can go.
import { agreedDate } from '../clock.ts';
import { keyIdOf, type SecretBox } from '../secret-box.ts';
import { acrossAccounts, type Id } from './tenant.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from './webhook-endpoint.ts';

type Sealed = Pick<
  WebhookEndpointRecord,
  '_id' | 'account_id' | 'secret' | 'previous_secret' | 'previous_secret_until'
>;

/** @returns how many secrets there are by the id of the key that opens them; of all accounts, the keys are the system's. */
export async function countSecretsByKey(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const { secret, previous_secret } of endpoints({})) {
    for (const sealed of [secret, previous_secret]) {
      if (sealed) counts.set(keyIdOf(sealed), (counts.get(keyIdOf(sealed)) ?? 0) + 1);
    }
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
  const needsIt = { $or: [{ secret: isOld }, { previous_secret: { $exists: true, ...isOld } }] };
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
      const { _id, account_id, secret, previous_secret } = endpoint;
      const unchanged = { _id, account_id, secret, previous_secret: previous_secret ?? { $exists: false } };
      const { modifiedCount } = await WebhookEndpoint.updateOne(unchanged, update);
      resealed += modifiedCount;
      onProgress(resealed);
    }
    if (found === 0) return { resealed, unreadable: [...unreadable] };
  }
}

/** @returns undefined when no key opens it. */
function anew(endpoint: Sealed, box: SecretBox) {
  const { secret, previous_secret: previous, previous_secret_until: until } = endpoint;
  // It signs nothing any more; its key may be gone for good.
  const isOver = previous && !(until && until > agreedDate());
  try {
    const $set = {
      secret: box.seal(box.open(secret)),
      ...(previous && !isOver ? { previous_secret: box.seal(box.open(previous)) } : {}),
    };
    return isOver ? { $set, $unset: { previous_secret: 1 as const, previous_secret_until: 1 as const } } : { $set };
  } catch {
    return undefined;
  }
}

function endpoints(filter: object): AsyncIterable<Sealed> {
  return WebhookEndpoint.find(filter)
    .setOptions(acrossAccounts)
    .select({ account_id: 1, secret: 1, previous_secret: 1, previous_secret_until: 1 })
    .lean<Sealed[]>()
    .cursor() as AsyncIterable<Sealed>;
}
