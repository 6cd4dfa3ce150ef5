// The floor of credit notes: the same writes by the bare driver, without HTTP, keys, rules or reads.
import { newId, newRecord, type StoredId, storedId } from '#libs/models/tenant.ts';
import type { BillingAccount } from './billing-data.ts';
import { collection, inOneTransaction } from './billing-floor.ts';

const DAY = '2026-11-26';
const LINE = { description: 'Drawings', qty: '1', rate: '100', discount: '0' };
const PARTIES = {
  issuer: { name: 'Studio North', locale: 'en-US' },
  client: { id: '', name: 'Ada Lovelace', email: 'ada@example.com', company_name: 'Analytical Engines' },
};

/** Everything that a drawn credit note writes, each at once: the counter twice, the number, the credit note, its invoice and two events. */
export async function drawBareCreditNote({ id }: BillingAccount, invoice_id: StoredId): Promise<void> {
  const account_id = storedId(id);
  const allocation = { _id: storedId(newId()), invoice_id, invoice_number: 'INV-0001', amount: 10_000, date: DAY };
  const note = {
    ...newRecord(id),
    invoice_id,
    currency: 'USD',
    amount: 10_000,
    tax_amount: 0,
    line_items: [LINE],
    allocations: [allocation],
    refunds: [],
    unallocated: 0,
    issued_on: DAY,
    parties: PARTIES,
  };
  await inOneTransaction(async (session) => {
    const counter = await collection('counters').findOneAndUpdate(
      { _id: account_id },
      { $inc: { credit_note: 1, event: 2 } } as object,
      { session, upsert: true, returnDocument: 'after' },
    );
    const { credit_note = 0, event: sequence = 0 } = (counter ?? {}) as { credit_note?: number; event?: number };
    const text = `CRN-${credit_note}`;
    const number = { _id: note._id, account_id, kind: 'credit_note', period: '', number: credit_note, text };
    await collection('numbers').insertOne(number as never, { session });
    const issued = { $max: { 'issued.credit_note': DAY } } as object;
    await collection('counters').updateOne({ _id: account_id }, issued, { session });
    await collection('credit_notes').insertOne({ ...note, number: credit_note, number_text: text } as never, {
      session,
    });
    const settled = { amount_credited: 10_000, total_credited: 10_000, status: 'Cancelled', updated_at: new Date() };
    await collection('invoices').updateOne({ _id: invoice_id, account_id }, { $set: settled } as object, { session });
    const events = ['credit_note.issued', 'invoice.cancelled'].map((type, index) => ({
      _id: storedId(newId()),
      account_id,
      type,
      sequence: sequence - 1 + index,
      body: JSON.stringify({ type, data: note }),
      created_at: new Date(),
      due_at: new Date(),
      enqueue_count: 0,
    }));
    await collection('events').insertMany(events as never, { session });
  });
}
