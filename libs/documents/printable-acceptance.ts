// The evidence of an accepted quote as the renderer prints it.
import type { PrintableAcceptance } from '../jobs/printable-document.ts';
import { type QuoteEvidenceRecord, quoteEvidenceView } from '../models/answers/quote-evidence.ts';

/** Returns the acceptance. @param timeZone of the account. */
export function printableAcceptance(evidence: QuoteEvidenceRecord, timeZone: string): PrintableAcceptance {
  const { name, accepted_at, order_number, quote_sha256, key_id, drawn_signature } = quoteEvidenceView(evidence);
  return {
    name,
    at: Date.parse(accepted_at),
    timeZone,
    ...(order_number ? { orderNumber: order_number } : {}),
    quoteHash: quote_sha256,
    keyId: key_id,
    ...(drawn_signature ? { drawn: drawn_signature } : {}),
  };
}
