// The order number that a client gave with its acceptance goes with it: it may name another one next time.
import { lastEvidence, quoteEvidenceView } from '../../models/answers/quote-evidence.ts';
import type { QuoteRecord } from '../../models/billing/quote.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/**
 * Returns the change that removes the order number of the last acceptance, or nothing. A reference that the owner set stays.
 * @param quote with the reference that it is to have.
 */
export async function withdrawnOrderNumber(
  { session, accountId }: UnitOfWork,
  quote: QuoteRecord,
): Promise<Pick<Partial<QuoteRecord>, 'order_reference'>> {
  if (!quote.order_reference) return {};
  const evidence = await lastEvidence(accountId, quote._id, session);
  if (!evidence) return {};
  const { order_number, quote_json } = quoteEvidenceView(evidence);
  const { order_reference: shown } = JSON.parse(quote_json) as { order_reference: string | null };
  return shown === null && order_number === quote.order_reference ? { order_reference: undefined } : {};
}
