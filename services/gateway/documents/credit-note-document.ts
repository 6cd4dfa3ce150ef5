// A stored credit note as the renderer prints it: with a minus before every amount, and nothing that changes after it was issued.
import { totalOf } from '#libs/billing/balance.ts';
import { fromMinor, lineNet } from '#libs/billing/money.ts';
import type { PrintableDocument, PrintableLine } from '#libs/jobs/printable-document.ts';
import type { CreditNoteRecord } from '#libs/models/billing/credit-note.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import type { DocumentQuery } from './input.ts';
import { looksOf, type PartyDetails, present } from './stored-document.ts';

export function creditNoteDocument(
  note: CreditNoteRecord,
  faces: PartyDetails,
  query: DocumentQuery,
): PrintableDocument {
  const { currency, description, line_items, applied_at_issue, settle } = note;
  const major = (minor: number) => fromMinor(minor, currency);
  const minus = (minor: number) => (minor === 0 ? 0 : -major(minor));
  const rest = totalOf(note) - applied_at_issue;
  return present({
    ...looksOf(note.issued_on, currency, faces, query),
    title: 'Invoice',
    number: printedNumber('credit_note', note),
    isQuote: false,
    subtotal: minus(note.amount),
    taxRate: note.tax_rate,
    taxAmount: minus(note.tax_amount),
    amount: minus(totalOf(note)),
    lineItems: linesOf(note, minus),
    subject: line_items ? (description ?? undefined) : undefined,
    creditNote: {
      invoice: note.invoice_number,
      issuedOn: note.invoice_issued_on,
      reason: note.reason,
      ...(applied_at_issue > 0 ? { applied: major(applied_at_issue) } : {}),
      ...(rest > 0 ? { [settle === 'refund' ? 'refunded' : 'credit']: major(rest) } : {}),
    },
  });
}

/** A negative quantity at the price of the invoice. Without lines and a description the renderer names the invoice. */
function linesOf(
  { line_items, description, amount, currency }: CreditNoteRecord,
  minus: (minor: number) => number,
): PrintableLine[] {
  if (!line_items) return [{ description: description ?? '', amount: minus(amount) }];
  return line_items.map(({ description, qty, rate, discount }) => ({
    description,
    qty: negated(qty),
    rate,
    discount,
    amount: minus(lineNet({ qty, rate, discount }, currency)),
  }));
}

function negated(decimal: string): string {
  if (decimal === '0') return decimal;
  return decimal.startsWith('-') ? decimal.slice(1) : `-${decimal}`;
}
