// Reads the business of one day over all accounts: documents, and money by currency. Indexes have every field of the sums, so that no invoice and
// no payment is read, and each query stops at a fixed number.
import { DATED_INVOICES, Invoice } from '#libs/models/billing/invoice.ts';
import { DATED_PAYMENTS, Payment } from '#libs/models/billing/payment.ts';
import { Render, type RenderStatus } from '#libs/models/documents/render-record.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts } from '#libs/models/tenant.ts';
import { SEARCH_LIMIT_MS } from './delivery-search.ts';

/** The number of invoices, of payments and of documents at which counting stops. An index of 250,000 invoices takes a fifth of a second. */
export const BUSINESS_COUNTED_MAX = 250_000;

export interface MoneyRow {
  status: string;
  currency: string;
  count: number;
  /** The sum in the currency's smallest unit. */
  sum: number;
}

export interface DayOfMoney {
  rows: MoneyRow[];
  /** True when there were more than are counted. The sums are then too small. */
  isCut: boolean;
}

export interface Business {
  invoices: DayOfMoney;
  payments: DayOfMoney;
  documents: { status: RenderStatus; count: number }[];
}

/** @param day `YYYY-MM-DD`, the date on invoices and payments, in the calendar of each account. Documents are of this day in UTC. */
export async function readBusiness(day: string, most = BUSINESS_COUNTED_MAX): Promise<Business> {
  const [invoices, payments, documents] = await Promise.all([
    sumMoney(Invoice, { issue_date: day }, DATED_INVOICES, most),
    sumMoney(Payment, { date: day }, DATED_PAYMENTS, most),
    countDocuments(day, most),
  ]);
  return { invoices, payments, documents };
}

async function sumMoney(
  model: Parameters<typeof driverOf>[0],
  filter: object,
  hint: object,
  most: number,
): Promise<DayOfMoney> {
  const rows = await driverOf(model)
    .aggregate<{ _id: { status: string; currency: string }; count: number; sum: number }>(
      [
        { $match: filter },
        { $project: { _id: 0, status: 1, currency: 1, amount: 1 } },
        { $limit: most },
        { $group: { _id: { status: '$status', currency: '$currency' }, count: { $sum: 1 }, sum: { $sum: '$amount' } } },
        { $sort: { count: -1 } },
      ],
      { hint, maxTimeMS: SEARCH_LIMIT_MS },
    )
    .toArray();
  const money = rows.map(({ _id, count, sum }) => ({ ..._id, count, sum }));
  return { rows: money, isCut: money.reduce((sum, { count }) => sum + count, 0) >= most };
}

async function countDocuments(day: string, most: number): Promise<Business['documents']> {
  const from = new Date(`${day}T00:00:00Z`);
  const to = new Date(from.getTime() + 24 * 3_600_000);
  const rows = await Render.aggregate<{ _id: RenderStatus; count: number }>([
    { $match: { created_at: { $gte: from, $lt: to } } },
    { $limit: most },
    { $group: { _id: '$status', count: { $sum: 1 } } },
    { $sort: { count: -1 } },
  ]).option({ ...acrossAccounts, maxTimeMS: SEARCH_LIMIT_MS } as object);
  return rows.map(({ _id, count }) => ({ status: _id, count }));
}
