// What a client owes and what it has as credit, per currency: sums of invoices and payments, never a counter of their own.
import { Invoice, type InvoiceRecord } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { Payment, type PaymentRecord } from '../models/billing/payment.ts';
import { driverOf, readAll } from '../models/records.ts';
import { type Id, type StoredId, storedId } from '../models/tenant.ts';
import type { Session } from '../mongo/connection.ts';
import { dueOf } from './balance.ts';
import { fromMinor } from './money.ts';

interface Sums {
  due: number;
  overdue: number;
  credit: number;
  sources: PaymentRecord[];
}

const BALANCE_LIMIT_MS = 5_000;

/** Currencies in their order; none for a client that owes nothing and has no credit. @param today of the account. */
export async function clientBalances(accountId: Id, client_id: StoredId, today: string, session?: Session) {
  const own = { account_id: storedId(accountId), client_id };
  const options = { maxTimeMS: BALANCE_LIMIT_MS, ...(session ? { session } : {}) };
  const [open, credits] = (await readAll(session, [
    () =>
      driverOf(Invoice)
        .find({ ...own, status: { $in: ['Sent', 'Overdue'] } } as object, { ...options, projection: BALANCE_FIELDS })
        .toArray(),
    () =>
      driverOf(Payment)
        .find({ ...own, unallocated: { $gt: 0 } } as object, {
          ...options,
          sort: { _id: 1 },
          projection: CREDIT_FIELDS,
        })
        .toArray(),
  ])) as unknown as [InvoiceRecord[], PaymentRecord[]];
  const sums = new Map<string, Sums>();
  const of = (currency: string) => {
    const found = sums.get(currency) ?? { due: 0, overdue: 0, credit: 0, sources: [] };
    sums.set(currency, found);
    return found;
  };
  for (const invoice of open) {
    const sum = of(invoice.currency);
    sum.due += dueOf(invoice);
    if (invoice.due_date < today || invoice.status === 'Overdue') sum.overdue += dueOf(invoice);
  }
  for (const payment of credits) {
    const sum = of(payment.currency);
    sum.credit += payment.unallocated;
    sum.sources.push(payment);
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(balanceView);
}

const BALANCE_FIELDS = {
  currency: 1,
  status: 1,
  due_date: 1,
  amount: 1,
  tax_amount: 1,
  amount_paid: 1,
  amount_written_off: 1,
} as const;
const CREDIT_FIELDS = { currency: 1, unallocated: 1, number: 1, number_text: 1, date: 1 } as const;

function balanceView([currency, { due, overdue, credit, sources }]: [string, Sums]) {
  const major = (amount: number) => fromMinor(amount, currency);
  return {
    currency,
    due: major(due),
    overdue: major(overdue),
    credit: major(credit),
    credit_sources: sources.map((payment) => ({
      payment: { id: String(payment._id), payment_number: printedNumber('payment', payment) },
      date: payment.date,
      amount: major(payment.unallocated),
    })),
  };
}
