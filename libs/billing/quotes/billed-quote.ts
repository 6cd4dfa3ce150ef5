// Protects the billed parts of a quote: a change of the quote must not contradict its invoices.
import { sumBy } from 'es-toolkit/math/sumBy';
import { appError } from '../../errors.ts';
import type { QuoteRecord } from '../../models/billing/quote.ts';
import { billedSum, invoicesOfQuotes } from '../../models/billing/quote-invoices.ts';
import { writtenAmount } from '../../rules/money/balance.ts';
import { agreedSum } from '../../rules/quotes/quote-parts.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/**
 * Checks a change of a quote.
 * @param changed the fields with new values.
 * @throws AppError 409 for a change that contradicts its invoices.
 */
export async function requireBilledKept(
  unit: UnitOfWork,
  quote: QuoteRecord,
  { next, changed }: { next: Partial<QuoteRecord>; changed: readonly string[] },
): Promise<void> {
  const touched = ['amount', 'currency', 'client_id', 'prices_include_tax'].filter((name) => changed.includes(name));
  if (touched.length === 0 || !quote.converted_at) return;
  const parts = (await invoicesOfQuotes([quote._id], unit.accountId, unit.session)).get(String(quote._id)) ?? [];
  const [first] = parts;
  if (!first) return;
  const fixed = touched.filter((name) => name !== 'amount');
  if (fixed.length > 0) throw appError('quote_already_billed', { fields: fixed });
  const billed = sumBy(parts, billedSum);
  if (agreedSum({ ...quote, ...next }) < Math.min(billed, agreedSum(quote))) {
    throw appError('quote_below_billed', { billed: writtenAmount(billed, quote.currency) });
  }
}
