// Counts signing secrets by their key, and reseals them and the tokens of links so that an old key can be removed.

import { Account, type AccountRecord, type StripeSettings } from '#libs/models/accounts/account.ts';
import { MailServer, type MailServerRecord } from '#libs/models/messages/mail-server.ts';
import { SigningKey, type SigningKeyRecord } from '#libs/models/operations/signing-key.ts';
import { DocumentLink, type DocumentLinkRecord } from '#libs/models/portal/document-link.ts';
import { acrossAccounts, type Id } from '#libs/models/tenant.ts';
import { formerSecrets } from '#libs/models/webhooks/endpoint-secrets.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { keyIdOf, type SecretBox } from '#libs/secret-box.ts';

type Sealed = Pick<WebhookEndpointRecord, '_id' | 'account_id' | 'secret' | 'previous_secrets'>;

/** Counts the secrets that sign, the passwords of mail servers and the secrets of Stripe, by the id of the key that opens them. */
export async function countSecretsByKey(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const endpoint of endpoints({})) {
    for (const sealed of [endpoint.secret, ...formerSecrets(endpoint).map(({ secret }) => secret)])
      counts.set(keyIdOf(sealed), (counts.get(keyIdOf(sealed)) ?? 0) + 1);
  }
  // The key that signs evidence is no account's.
  for (const { sealed } of await SigningKey.find().lean<SigningKeyRecord[]>())
    counts.set(keyIdOf(sealed), (counts.get(keyIdOf(sealed)) ?? 0) + 1);
  const servers = MailServer.find({ secret: { $exists: true } })
    .setOptions(acrossAccounts)
    .select({ secret: 1 })
    .lean()
    .cursor();
  for await (const { secret } of servers as AsyncIterable<{ secret: string }>)
    counts.set(keyIdOf(secret), (counts.get(keyIdOf(secret)) ?? 0) + 1);
  const accounts = Account.find({ stripe: { $exists: true } })
    .select({ stripe: 1 })
    .lean()
    .cursor();
  for await (const { stripe } of accounts as AsyncIterable<{ stripe: StripeSettings }>)
    for (const sealed of [stripe.key, stripe.signing_secret])
      counts.set(keyIdOf(sealed), (counts.get(keyIdOf(sealed)) ?? 0) + 1);
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

/** Reseals the secrets of Stripe. One that no key opens is left: its account sets it anew. */
export async function resealStripe(box: SecretBox): Promise<void> {
  const accounts = Account.find({ stripe: { $exists: true } })
    .select({ stripe: 1 })
    .lean()
    .cursor();
  for await (const { _id, stripe } of accounts as AsyncIterable<
    Pick<AccountRecord, '_id'> & { stripe: StripeSettings }
  >) {
    const { key, signing_secret } = stripe;
    if ([key, signing_secret].every((sealed) => keyIdOf(sealed) === box.keyIds[0])) continue;
    if (![key, signing_secret].every((sealed) => box.keyIds.includes(keyIdOf(sealed)))) continue;
    const anew = { 'stripe.key': box.seal(box.open(key)), 'stripe.signing_secret': box.seal(box.open(signing_secret)) };
    await Account.updateOne({ _id, 'stripe.key': key, 'stripe.signing_secret': signing_secret }, { $set: anew });
  }
}

/** Reseals the passwords of mail servers. One that no key opens is left: its account sets it anew. */
export async function resealMailServers(box: SecretBox): Promise<void> {
  const isOld = { secret: { $exists: true, $not: new RegExp(`^${box.keyIds[0]}\\.`) } };
  const servers = MailServer.find(isOld)
    .setOptions(acrossAccounts)
    .select({ account_id: 1, secret: 1 })
    .lean()
    .cursor();
  for await (const { _id, account_id, secret } of servers as AsyncIterable<MailServerRecord>) {
    if (secret === undefined || !box.keyIds.includes(keyIdOf(secret))) continue;
    await MailServer.updateOne({ _id, account_id, secret }, { $set: { secret: box.seal(box.open(secret)) } });
  }
}

/**
 * Reseals the tokens of links to documents. A token that no key opens is left: its link works, and only the account
 * cannot read it again.
 */
export async function resealLinks(box: SecretBox): Promise<void> {
  const isOld = { sealed: { $exists: true, $not: new RegExp(`^${box.keyIds[0]}\\.`) } };
  const links = DocumentLink.find(isOld)
    .setOptions(acrossAccounts)
    .select({ account_id: 1, sealed: 1 })
    .lean()
    .cursor();
  for await (const { _id, account_id, sealed } of links as AsyncIterable<DocumentLinkRecord>) {
    if (sealed === undefined || !box.keyIds.includes(keyIdOf(sealed))) continue;
    await DocumentLink.updateOne({ _id, account_id, sealed }, { $set: { sealed: box.seal(box.open(sealed)) } });
  }
}

/** Reseals the key that signs evidence. One that no key opens is left, and doctor says so. */
export async function resealSigningKey(box: SecretBox): Promise<void> {
  for (const { _id, sealed } of await SigningKey.find().lean<SigningKeyRecord[]>()) {
    const isOld = keyIdOf(sealed) !== box.keyIds[0];
    if (!isOld || !box.keyIds.includes(keyIdOf(sealed))) continue;
    await SigningKey.updateOne({ _id, sealed }, { $set: { sealed: box.seal(box.open(sealed)) } });
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
