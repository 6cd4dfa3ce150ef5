// Quotes that wait: accepted ones that are not billed, those that expire, and drafts.
import { addDays, dayIn } from '../../day.ts';
import { TOTAL_FIELDS } from '../../models/billing/balance-expressions.ts';
import { Quote, type QuoteRecord } from '../../models/billing/quote.ts';
import { billedSum, invoicesOfQuotes } from '../../models/billing/quote-invoices.ts';
import { wireId } from '../../models/tenant.ts';
import { totalOf } from '../../rules/money/balance.ts';
import { agreedSum, leftToBill } from '../../rules/quotes/quote-parts.ts';
import { COUNTED, counted, type Forgotten, type Look, SIFTED, sift } from './forgotten.ts';

/** Days before its last day from which a quote is listed. */
export const EXPIRING_DAYS = 7;

const FIELDS = {
  status: 1,
  currency: 1,
  ...TOTAL_FIELDS,
  prices_include_tax: 1,
  acceptance: 1,
  expires_at: 1,
  updated_at: 1,
} as const satisfies Partial<Record<keyof QuoteRecord, 1>>;

/** Finds accepted quotes with something left to bill. Those that were made last are looked at first. */
export function unbilledQuotes({ reader, account }: Look): Promise<Forgotten> {
  const accepted = reader.each<QuoteRecord>(
    Quote,
    { status: 'Accepted' },
    { projection: FIELDS, sort: { _id: -1 }, hint: { account_id: 1, status: 1, _id: 1 }, ...SIFTED },
  );
  return sift(accepted, async (quotes) => {
    const invoices = await invoicesOfQuotes(
      quotes.map(({ _id }) => _id),
      wireId(account._id),
    );
    return quotes.flatMap((quote) => {
      const parts = (invoices.get(String(quote._id)) ?? []).map((one) => ({ amount: billedSum(one) }));
      const amount = leftToBill(agreedSum(quote), parts);
      const day = dayIn(account.time_zone, quote.acceptance?.at ?? quote.updated_at);
      return amount > 0 ? [{ id: quote._id, day, money: { amount, currency: quote.currency } }] : [];
    });
  });
}

/** Finds sent quotes that expire within EXPIRING_DAYS. */
export async function expiringQuotes({ reader, today }: Look): Promise<Forgotten> {
  const found = await reader.find<QuoteRecord>(
    Quote,
    { status: 'Sent', expires_at: { $gte: today, $lte: addDays(today, EXPIRING_DAYS) } },
    {
      projection: FIELDS,
      sort: { expires_at: 1 },
      hint: { account_id: 1, status: 1, expires_at: 1, _id: 1 },
      ...COUNTED,
    },
  );
  return counted(found, (quote) => ({ id: quote._id, day: quote.expires_at, money: moneyOf(quote) }));
}

function moneyOf(quote: QuoteRecord) {
  return { amount: totalOf(quote), currency: quote.currency };
}
