// The floor of a recurring run: everything that it writes, by the bare driver and at once, without rules or reads.
import type { StoredId } from '#libs/models/tenant.ts';
import { newId, newRecord, storedId } from '#libs/models/tenant.ts';
import { collection, inOneTransaction } from './billing-floor.ts';

const PARTIES = {
  issuer: { name: 'Agency', locale: 'en-US' },
  client: { id: newId(), name: 'Ada Lovelace', email: 'ada@example.com' },
};

/** The counter, the number, the invoice, the run, the recurring invoice and three events. */
export async function runBare(accountId: string, recurringId: StoredId, occurrence: number): Promise<void> {
  const account_id = storedId(accountId);
  const invoice = {
    ...newRecord(accountId),
    client_id: storedId(newId()),
    status: 'Sent',
    currency: 'EUR',
    amount: 45_000,
    tax_amount: 0,
    tax_rate: 0,
    amount_paid: 0,
    due_date: '2099-12-31',
    line_items: [{ description: 'Support January', qty: '1', rate: '450', discount: '0' }],
    parties: PARTIES,
    recurring: { id: recurringId, occurrence, period_from: '2031-01-31', period_to: '2031-02-27' },
  };
  await inOneTransaction(async (session) => {
    const counter = await collection('counters').findOneAndUpdate(
      { _id: account_id },
      { $inc: { invoice: 1, event: 3 } } as object,
      { session, upsert: true, returnDocument: 'after' },
    );
    const { invoice: number = 0, event: sequence = 0 } = (counter ?? {}) as { invoice?: number; event?: number };
    await collection('numbers').insertOne(
      { _id: invoice._id, account_id, kind: 'invoice', period: '', number, text: `INV-${number}` } as never,
      { session },
    );
    await collection('invoices').insertOne({ ...invoice, number, number_text: `INV-${number}` } as never, { session });
    await collection('recurring_runs').insertOne(
      { ...newRecord(accountId), recurring_id: recurringId, occurrence, due_on: '2031-01-31' } as never,
      { session },
    );
    await collection('recurring_invoices').updateOne(
      { _id: recurringId, account_id },
      { $set: { next_index: occurrence, updated_at: new Date() } } as object,
      { session },
    );
    const events = ['invoice.created', 'invoice.sent', 'recurring_invoice.ran'].map((type, index) => ({
      _id: storedId(newId()),
      account_id,
      type,
      sequence: sequence - 2 + index,
      body: JSON.stringify({ type, data: invoice }),
      created_at: new Date(),
      due_at: new Date(),
      enqueue_count: 0,
    }));
    await collection('events').insertMany(events, { session });
  });
}
