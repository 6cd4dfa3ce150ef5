// Counts sealed secrets by their key, and reseals them so that an old key can be removed.
import { Account } from '#libs/models/accounts/account.ts';
import { MailServer } from '#libs/models/messages/mail-server.ts';
import { SigningKey } from '#libs/models/operations/signing-key.ts';
import { DocumentLink } from '#libs/models/portal/document-link.ts';
import { driverOf, type Owned, type Records } from '#libs/models/records.ts';
import { StripeCheckout } from '#libs/models/stripe/checkout.ts';
import { acrossAccounts, type Id, type StoredId } from '#libs/models/tenant.ts';
import { formerSecrets } from '#libs/models/webhooks/endpoint-secrets.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { keyIdOf, type SecretBox } from '#libs/secret-box.ts';

type Sealed = Pick<WebhookEndpointRecord, '_id' | 'account_id' | 'secret' | 'previous_secrets'>;

interface SealedField {
  records: Pick<Records<Owned>, 'collection'>;
  path: string;
  /** Set when nothing fails without the value: doctor does not count it. */
  canBeLost?: true;
}

/** Every sealed value but the secrets of endpoints, which have a list of former ones. */
const SEALED_FIELDS: readonly SealedField[] = [
  { records: MailServer, path: 'secret' },
  { records: Account, path: 'stripe.key' },
  { records: Account, path: 'stripe.signing_secret' },
  { records: SigningKey, path: 'sealed' },
  // A link works without its token, which only its account reads again.
  { records: DocumentLink, path: 'sealed', canBeLost: true },
  // A page of Stripe lives for less than a day.
  { records: StripeCheckout, path: 'return_to', canBeLost: true },
];

/** Counts the sealed values that services need, by the id of the key that opens them. */
export async function countSecretsByKey(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const count = (keyId: string, times = 1) => counts.set(keyId, (counts.get(keyId) ?? 0) + times);
  for await (const endpoint of endpoints({}))
    for (const sealed of [endpoint.secret, ...formerSecrets(endpoint).map(({ secret }) => secret)])
      count(keyIdOf(sealed));
  for (const { records, path } of SEALED_FIELDS.filter(({ canBeLost }) => !canBeLost)) {
    const keyId = { $arrayElemAt: [{ $split: [`$${path}`, '.'] }, 0] };
    const groups = driverOf(records).aggregate<{ _id: string; times: number }>([
      { $match: { [path]: { $exists: true } } },
      { $group: { _id: keyId, times: { $sum: 1 } } },
    ]);
    for await (const { _id, times } of groups) count(_id, times);
  }
  return counts;
}

export interface Resealing {
  /** The number of endpoints whose secrets are now sealed with the first key. */
  resealed: number;
  /** The endpoints whose secrets no key in the list opens. */
  unreadable: Id[];
}

/**
 * Reseals every secret that is not sealed with the first key. It may run beside the services and repeatedly: an
 * endpoint that is changed meanwhile is read again.
 * @param onProgress gets the number of finished endpoints.
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
      // The update requires the values that were read, so that a rotated secret does not return.
      const { _id, account_id, secret, previous_secrets } = endpoint;
      const unchanged = { _id, account_id, secret, previous_secrets: previous_secrets ?? { $exists: false } };
      const { modifiedCount } = await WebhookEndpoint.updateOne(unchanged, update);
      resealed += modifiedCount;
      onProgress(resealed);
    }
    if (found === 0) return { resealed, unreadable: [...unreadable] };
  }
}

/**
 * Reseals every sealed value but the secrets of endpoints. One that no key opens is left: its account sets it anew, a
 * link works without it, and doctor names the others.
 */
export async function resealFields(box: SecretBox): Promise<void> {
  const isOld = { $exists: true, $not: new RegExp(`^${box.keyIds[0]}\\.`) };
  for (const { records, path } of SEALED_FIELDS) {
    const collection = driverOf(records);
    const found = collection.aggregate<{ _id: StoredId; sealed: string }>([
      { $match: { [path]: isOld } },
      { $project: { sealed: `$${path}` } },
    ]);
    for await (const { _id, sealed } of found) {
      if (!box.keyIds.includes(keyIdOf(sealed))) continue;
      // The update requires the value that was read, so that one that was set meanwhile stays.
      await collection.updateOne({ _id, [path]: sealed }, { $set: { [path]: box.seal(box.open(sealed)) } });
    }
  }
}

/** Returns the resealed secrets, or undefined when no key opens them. */
function anew(endpoint: Sealed, box: SecretBox) {
  try {
    const secret = box.seal(box.open(endpoint.secret));
    if (!endpoint.previous_secrets) return { $set: { secret } };
    // Expired secrets are dropped, because their key may not exist any more.
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
