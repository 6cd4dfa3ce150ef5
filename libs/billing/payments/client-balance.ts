// Computes what a client owes and has as credit per currency. The balance is a sum of records, never a counter.
import { mapValues } from 'es-toolkit/object/mapValues';
import { DUE } from '../../models/billing/balance-expressions.ts';
import { CreditNote } from '../../models/billing/credit-note.ts';
import { Invoice } from '../../models/billing/invoice.ts';
import { Payment } from '../../models/billing/payment.ts';
import { readOwnAtOnce } from '../../models/own-snapshot.ts';
import type { Id, StoredId } from '../../models/tenant.ts';
import { fromMinor } from '../../rules/money/money.ts';
import { type Ageing, BalanceSums, type Balances, balancesAsOf, CREDIT_SOURCES_MAX, firstDaysOf } from './as-of.ts';
import { datedMovements, noteSource, paymentSource } from './dated-movements.ts';
import { OPEN_INVOICES } from './payable-invoices.ts';

const BALANCE_LIMIT_MS = 5_000;

/**
 * Returns the balances at the end of a past day. Movements count on their own day, whenever they were booked; due dates
 * are the present ones. It reads all movements of the client.
 * @param timeZone of the account.
 * @throws AppError 422 when there are more than it can add up.
 */
export async function clientBalancesAsOf(
  accountId: Id,
  client_id: StoredId,
  { day, timeZone }: { day: string; timeZone: string },
) {
  const movements = await datedMovements(accountId, client_id, { timeZone });
  return balancesAsOf(movements, day).map(balanceView);
}

/**
 * Returns the balances in the order of currencies, or none for a client that owes nothing and has no credit.
 * @param today of the account.
 */
export async function clientBalances(accountId: Id, client_id: StoredId, today: string) {
  const { open, payments, notes } = await openSums(accountId, client_id, today);
  const sums = new BalanceSums();
  for (const { _id, due } of open) sums.owe(_id.currency, _id.age, due);
  for (const [credits, sourceOf] of [[payments, paymentSource] as const, [notes, noteSource] as const]) {
    for (const { _id: currency, amount, count, first } of credits) {
      const sources = first.map(({ record, date, amount: left }) => ({ ...sourceOf(record), date, amount: left }));
      sums.have(currency, { amount, count, sources });
    }
  }
  return sums.all().map(balanceView);
}

interface OpenSum {
  _id: { currency: string; age: keyof Ageing };
  due: number;
}

interface CreditSum {
  /** The currency. */
  _id: string;
  amount: number;
  count: number;
  first: { record: Parameters<typeof paymentSource>[0]; date: string; amount: number }[];
}

/**
 * Adds up in the database, whatever the number of records. All reads are at one instant: a payment that is booked
 * meanwhile would be credit beside what is still due.
 */
function openSums(accountId: Id, client_id: StoredId, today: string) {
  const age = firstDaysOf(today).reduceRight<object | string>(
    (older, [name, first]) => ({ $cond: [{ $gte: ['$due_date', first] }, name, older] }),
    'd91_plus',
  );
  return readOwnAtOnce(accountId, BALANCE_LIMIT_MS, async (reader) => {
    const creditOf = (records: typeof Payment | typeof CreditNote, day: string) => {
      const shown = {
        record: { _id: '$_id', number: '$number', number_text: '$number_text' },
        date: day,
        amount: '$unallocated',
      };
      return reader.aggregate<CreditSum>(
        records,
        { client_id, unallocated: { $gt: 0 } },
        {
          stages: [
            {
              $group: {
                _id: '$currency',
                amount: { $sum: '$unallocated' },
                count: { $sum: 1 },
                first: { $topN: { n: CREDIT_SOURCES_MAX, sortBy: { _id: 1 }, output: shown } },
              },
            },
          ],
          hint: { account_id: 1, client_id: 1, unallocated: 1 },
        },
      );
    };
    return {
      open: await reader.aggregate<OpenSum>(
        Invoice,
        { client_id, status: { $in: ['Sent', 'Overdue'] } },
        {
          stages: [{ $group: { _id: { currency: '$currency', age }, due: { $sum: DUE } } }],
          hint: OPEN_INVOICES,
        },
      ),
      payments: await creditOf(Payment, '$date'),
      notes: await creditOf(CreditNote, '$issued_on'),
    };
  });
}

function balanceView({ currency, due, overdue, ageing, credit, credit_source_count, credit_sources }: Balances) {
  const major = (amount: number) => fromMinor(amount, currency);
  return {
    currency,
    due: major(due),
    overdue: major(overdue),
    ageing: mapValues(ageing, major),
    credit: major(credit),
    credit_source_count,
    credit_sources: credit_sources.map((source) => ({ ...source, amount: major(source.amount) })),
  };
}
