// The day on which a client says that it will pay an invoice.
import type { Session } from '../../mongo/connection.ts';
import { dueOf } from '../../rules/money/balance.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { InvoiceRecord } from '../billing/invoice.ts';
import { printedNumber } from '../billing/number-ledger.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { driverOf, recordsOf, type Stamped } from '../records.ts';
import { requiredIdField, type StoredId } from '../tenant.ts';

/**
 * The statuses of a promise.
 * - `kept`: nothing was due any more on its day, or before.
 * - `broken`: its day passed, and something was due.
 * - `replaced`: the client named another day before.
 * - `ended`: the invoice was cancelled.
 */
export const PROMISE_STATUSES = ['open', 'kept', 'broken', 'replaced', 'ended'] as const;
export type PromiseStatus = (typeof PROMISE_STATUSES)[number];

export interface PromiseRecord extends Stamped {
  invoice_id: StoredId;
  client_id: StoredId;
  /** `YYYY-MM-DD` on the account's calendar. */
  promised_for: string;
  /** The status that was stored. Readers see `promiseStatus`. */
  status: PromiseStatus;
  /** The link by which the client came. */
  link_id: StoredId;
  /** The promised day, as long as the scheduler has to look at the promise when it has passed. */
  expires_on?: string | undefined;
}

export const promiseListing: ListingOf<PromiseRecord, 'created_at'> = {
  filters: ['invoice_id'],
  orders: { created_at: '_id' },
  standard: '-created_at',
};

const promiseSchema = recordSchema<PromiseRecord>(
  'promises',
  {
    invoice_id: requiredIdField,
    client_id: requiredIdField,
    promised_for: { type: String, required: true },
    status: { type: String, enum: PROMISE_STATUSES, required: true },
    link_id: requiredIdField,
    expires_on: String,
  },
  promiseListing,
);
// The scheduler looks for promises of all accounts here.
promiseSchema.index({ expires_on: 1 }, { sparse: true });

export const PaymentPromise = recordsOf<PromiseRecord>('PaymentPromise', promiseSchema);

/** Returns the promises of an invoice, the latest first. */
export async function promisesOf(
  { _id, account_id }: Pick<InvoiceRecord, '_id' | 'account_id'>,
  session?: Session,
): Promise<PromiseRecord[]> {
  const found = await driverOf(PaymentPromise)
    .find({ account_id, invoice_id: _id } as object, { sort: { _id: -1 }, ...(session ? { session } : {}) })
    .toArray();
  return found as unknown as PromiseRecord[];
}

/** Returns the status as it is now: an open promise is kept or ended by what became of its invoice. */
export function promiseStatus({ status }: Pick<PromiseRecord, 'status'>, invoice: InvoiceRecord): PromiseStatus {
  if (status !== 'open') return status;
  if (invoice.status === 'Cancelled') return 'ended';
  return dueOf(invoice) > 0 ? 'open' : 'kept';
}

/** Returns the promise in the form of the API. */
export function promiseView(promise: PromiseRecord, invoice: InvoiceRecord, client: ClientDetails | undefined) {
  return {
    id: String(promise._id),
    invoice: { id: String(invoice._id), invoice_number: printedNumber('invoice', invoice) },
    client: client ? embeddedClient(client) : null,
    promised_for: promise.promised_for,
    status: promiseStatus(promise, invoice),
    created_at: promise.created_at.toISOString(),
    updated_at: promise.updated_at.toISOString(),
  };
}
