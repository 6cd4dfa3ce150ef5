// The floor of the billing core: the same writes and sums by the bare driver, without HTTP, keys, rules or reads.
import mongoose, { type mongo } from 'mongoose';
import { newId, newRecord, type StoredId, storedId } from '#libs/models/tenant.ts';
import { UNBILLED, UNBILLED_INDEX } from '#libs/models/time/time-entry.ts';
import type { BillingAccount } from './billing-data.ts';

const DURABLE = { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority', journal: true } } as const;

interface Stored {
  _id: StoredId;
  account_id: StoredId;
  payment?: number;
  event?: number;
}

/** Without the types of any model: a floor writes what it likes. */
export const collection = (name: string) => {
  const { db } = mongoose.connection;
  if (!db) throw new Error('not connected');
  return db.collection(name) as unknown as mongo.Collection<Stored>;
};

export async function inOneTransaction(work: (session: mongo.ClientSession) => Promise<void>) {
  const session = mongoose.connection.getClient().startSession();
  try {
    session.startTransaction(DURABLE);
    await work(session);
    await session.commitTransaction();
  } finally {
    await session.endSession();
  }
}

/** One update of all entries and one insert of the invoice. */
export async function billEntries({ id }: BillingAccount, { entries }: BillingAccount['clients'][number]) {
  const invoice = { ...newRecord(id), status: 'Draft', currency: 'USD', amount: 1, number: -Date.now() };
  await inOneTransaction(async (session) => {
    await collection('time_entries').updateMany(
      { account_id: storedId(id), _id: { $in: entries }, invoice_id: null } as object,
      { $set: { invoice_id: invoice._id, billed_line: 1, billed_rate: 90, billed_rate_from: 'account' } } as object,
      { session },
    );
    await collection('invoices').insertOne({ ...invoice, due_date: '2099-12-31' } as never, { session });
  });
}

/** Everything that a booked payment writes, each at once: the counter, the number, the client, the payment, its invoice and three events. */
export async function bookBarePayment({ id }: BillingAccount, client_id: StoredId, invoice_id: StoredId) {
  const payment = { ...newRecord(id), client_id, currency: 'USD', amount: 10_000, unallocated: 0, date: '2026-11-26' };
  const account_id = storedId(id);
  await inOneTransaction(async (session) => {
    const counter = await collection('counters').findOneAndUpdate(
      { _id: account_id },
      { $inc: { payment: 1, event: 3 } } as object,
      { session, upsert: true, returnDocument: 'after' },
    );
    const number = counter?.payment ?? 0;
    const sequence = counter?.event ?? 0;
    await collection('numbers').insertOne(
      { _id: payment._id, account_id, kind: 'payment', period: '', number, text: `PAY-${number}` } as Stored,
      { session },
    );
    await collection('clients').updateOne({ _id: client_id, account_id }, { $inc: { lock_version: 1 } } as object, {
      session,
    });
    const allocation = { _id: storedId(newId()), invoice_id, invoice_number: 'INV-0001', amount: 10_000, refunded: 0 };
    await collection('payments').insertOne({ ...payment, number, allocations: [allocation], refunds: [] } as Stored, {
      session,
    });
    await collection('invoices').updateOne(
      { _id: invoice_id, account_id },
      { $set: { amount_paid: 10_000, status: 'Paid', paid_on: '2026-11-26', updated_at: new Date() } } as object,
      { session },
    );
    const events = ['payment.received', 'payment.recorded', 'invoice.paid'].map((type, index) => ({
      _id: storedId(newId()),
      account_id,
      type,
      sequence: sequence - 2 + index,
      body: JSON.stringify({ type, data: payment }),
      created_at: new Date(),
      due_at: new Date(),
      enqueue_count: 0,
    }));
    await collection('events').insertMany(events, { session });
  });
}

/** The sums of `GET /unbilled` before any rate or rounding. */
export async function sumUnbilled({ id }: BillingAccount): Promise<number> {
  const groups = await collection('time_entries')
    .aggregate(
      [
        { $match: { account_id: storedId(id), ...UNBILLED } },
        {
          $group: {
            _id: { project: '$project_id', task: '$task_id', rate: '$hourly_rate' },
            entries: { $sum: 1 },
            seconds: { $sum: '$seconds' },
            oldest: { $min: '$date' },
          },
        },
      ],
      { hint: UNBILLED_INDEX },
    )
    .toArray();
  return groups.length;
}

/** The client's invoices that are due, the latest first, as many as are wanted. */
export async function dueInvoices({ id }: BillingAccount, client_id: StoredId, limit: number): Promise<StoredId[]> {
  const found = await collection('invoices')
    .find({ account_id: storedId(id), client_id, status: 'Sent' } as object, { sort: { due_date: -1 }, limit })
    .toArray();
  return found.map(({ _id }) => _id);
}
