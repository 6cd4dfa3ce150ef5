// An address that an account does not mail any more: it bounced for good, or its owner complained.
import { asciiAddress, formsOf } from '../../mail/ascii-address.ts';
import type { Session } from '../../mongo/connection.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, recordsOf, removeOwn, type Stamped } from '../records.ts';
import { type Id, idField, type StoredId, storedId } from '../tenant.ts';

/** The suppressions that are read at once when a client is erased. */
const BATCH = 200;

export const SUPPRESSION_REASONS = ['bounce', 'complaint'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

export interface SuppressionRecord extends Stamped {
  /** In lower case. */
  address: string;
  reason: SuppressionReason;
  /** The words of the receiving server. */
  text?: string | undefined;
  /** The message that came back, and the client to which it went. */
  message_id?: StoredId | undefined;
  client_id?: StoredId | undefined;
}

export const suppressionListing: ListingOf<SuppressionRecord, 'created_at'> = {
  filters: ['client_id'],
  orders: { created_at: '_id' },
  standard: '-created_at',
};

const suppressionSchema = recordSchema<SuppressionRecord>(
  'suppressions',
  {
    address: { type: String, required: true },
    reason: { type: String, enum: SUPPRESSION_REASONS, required: true },
    text: String,
    message_id: idField,
    client_id: idField,
  },
  suppressionListing,
);
// An address is suppressed once.
suppressionSchema.index({ account_id: 1, address: 1 }, { unique: true });

export const Suppression = recordsOf<SuppressionRecord>('Suppression', suppressionSchema);

/** Returns those of the addresses, in lower case, that the account does not mail. */
export async function suppressedOf(
  accountId: Id,
  addresses: readonly string[],
  session?: Session,
): Promise<Set<string>> {
  const forms = addresses.flatMap(formsOf);
  const own = { account_id: storedId(accountId), address: { $in: forms } } as object;
  const found = await driverOf(Suppression)
    .find(own, { ...(session ? { session } : {}), projection: { address: 1 }, batchSize: forms.length + 1 })
    .toArray();
  const suppressed = new Set((found as unknown as SuppressionRecord[]).map(({ address }) => asciiAddress(address)));
  return new Set(addresses.filter((address) => suppressed.has(asciiAddress(address))));
}

/** Returns those of the recipients whose address, in lower case, the account mails. */
export async function withoutSuppressed<One extends { address: string }>(
  accountId: Id,
  recipients: readonly One[],
  session?: Session,
): Promise<One[]> {
  const addresses = recipients.map(({ address }) => address);
  const suppressed = await suppressedOf(accountId, addresses, session);
  return recipients.filter(({ address }) => !suppressed.has(address));
}

/** Returns the suppression in the form of the API. */
export function suppressionView(suppression: SuppressionRecord) {
  return {
    id: String(suppression._id),
    address: suppression.address,
    reason: suppression.reason,
    text: suppression.text ?? null,
    message_id: suppression.message_id ? String(suppression.message_id) : null,
    created_at: suppression.created_at.toISOString(),
  };
}

/**
 * Removes the suppressions that came of messages to a client, which is erased. One of an address that another client has
 * stays, and is that client's from then on.
 * @param otherClientOf returns another client of the account with the address.
 */
export async function removeSuppressionsOf(
  accountId: Id,
  clientId: StoredId,
  session: Session,
  otherClientOf: (address: string) => Promise<StoredId | undefined>,
): Promise<void> {
  const own = { account_id: storedId(accountId), client_id: clientId } as object;
  for (;;) {
    const batch = (await driverOf(Suppression)
      .find(own, { session, sort: { _id: 1 }, limit: BATCH, batchSize: BATCH + 1 })
      .toArray()) as unknown as SuppressionRecord[];
    if (batch.length === 0) return;
    for (const suppression of batch) {
      const client_id = await otherClientOf(suppression.address);
      if (client_id === undefined) await removeOwn(Suppression, suppression, session);
      else {
        const { _id, account_id } = suppression;
        await driverOf(Suppression).updateOne({ _id, account_id }, { $set: { client_id } as never }, { session });
      }
    }
  }
}

/** Returns the suppression of an address in lower case, or undefined when the account mails it. */
export async function findSuppression(
  accountId: Id,
  address: string,
  session: Session,
): Promise<SuppressionRecord | undefined> {
  const own = { account_id: storedId(accountId), address: { $in: formsOf(address) } } as object;
  return ((await driverOf(Suppression).findOne(own, { session })) as SuppressionRecord | null) ?? undefined;
}
