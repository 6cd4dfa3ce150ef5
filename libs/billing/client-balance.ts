// What a client owes and what it has as credit, per currency: sums of its records, never a counter of their own.
import { mapValues } from 'es-toolkit/object/mapValues';
import { CreditNote, type CreditNoteRecord } from '../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '../models/billing/invoice.ts';
import { Payment, type PaymentRecord } from '../models/billing/payment.ts';
import { readOwnAtOnce } from '../models/own-snapshot.ts';
import type { Id, StoredId } from '../models/tenant.ts';
import { BalanceSums, type Balances, balancesAsOf } from './as-of.ts';
import { dueOf } from './balance.ts';
import { datedMovements, noteSource, paymentSource } from './dated-movements.ts';
import { fromMinor } from './money.ts';

const BALANCE_LIMIT_MS = 5_000;

/**
 * As it was at the end of a past day, with the day of each movement, whenever it was booked. Due dates are those of today. It reads all
 * records of the client. @param timeZone of the account.
 */
export async function clientBalancesAsOf(
  accountId: Id,
  client_id: StoredId,
  { day, timeZone }: { day: string; timeZone: string },
) {
  const movements = await datedMovements(accountId, client_id, timeZone);
  return balancesAsOf(movements, day).map(balanceView);
}

/** Currencies in their order; none for a client that owes nothing and has no credit. @param today of the account. */
export async function clientBalances(accountId: Id, client_id: StoredId, today: string) {
  const { open, payments, notes } = await openRecords(accountId, client_id);
  const sums = new BalanceSums();
  for (const invoice of open) sums.owe(invoice, dueOf(invoice), today);
  for (const payment of payments) {
    sums.have(payment.currency, payment.unallocated, { ...paymentSource(payment), date: payment.date });
  }
  for (const note of notes) sums.have(note.currency, note.unallocated, { ...noteSource(note), date: note.issued_on });
  return sums.all().map(balanceView);
}

/** All at one instant: a payment that is booked meanwhile would be credit beside what is still due. */
function openRecords(accountId: Id, client_id: StoredId) {
  return readOwnAtOnce(accountId, BALANCE_LIMIT_MS, async (reader) => {
    const withCredit = <Stored>(records: typeof Payment | typeof CreditNote, day: string) =>
      reader.find<Stored>(
        records,
        { client_id, unallocated: { $gt: 0 } },
        { sort: { _id: 1 }, projection: { ...CREDIT_FIELDS, [day]: 1 } },
      );
    const isOpen = { client_id, status: { $in: ['Sent', 'Overdue'] } };
    return {
      open: await reader.find<InvoiceRecord>(Invoice, isOpen, { projection: BALANCE_FIELDS }),
      payments: await withCredit<PaymentRecord>(Payment, 'date'),
      notes: await withCredit<CreditNoteRecord>(CreditNote, 'issued_on'),
    };
  });
}

const BALANCE_FIELDS = {
  currency: 1,
  due_date: 1,
  amount: 1,
  tax_amount: 1,
  amount_paid: 1,
  amount_credited: 1,
  amount_written_off: 1,
} as const;
const CREDIT_FIELDS = { currency: 1, unallocated: 1, number: 1, number_text: 1 } as const;

function balanceView({ currency, due, overdue, ageing, credit, credit_sources }: Balances) {
  const major = (amount: number) => fromMinor(amount, currency);
  return {
    currency,
    due: major(due),
    overdue: major(overdue),
    ageing: mapValues(ageing, major),
    credit: major(credit),
    credit_sources: credit_sources.map((source) => ({ ...source, amount: major(source.amount) })),
  };
}
