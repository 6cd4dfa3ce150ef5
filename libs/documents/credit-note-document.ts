// A stored credit note as the renderer prints it: with a minus before every amount, and nothing that changes after it was issued.

import type { PrintableDocument, PrintableLine, PrintableTax } from '../jobs/printable-document.ts';
import type { CreditNoteRecord } from '../models/billing/credit-note.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { totalOf } from '../rules/money/balance.ts';
import { fromMinor } from '../rules/money/money.ts';
import type { DocumentLooks } from './looks.ts';
import { linesOf, looksOf, type PartyDetails, present, printableCharges, printableTax } from './stored-document.ts';

export function creditNoteDocument(
  note: CreditNoteRecord,
  details: PartyDetails,
  query: DocumentLooks,
): PrintableDocument {
  const { currency, description, line_items, applied_at_issue, settle } = note;
  const major = (minor: number) => fromMinor(minor, currency);
  const minus = (minor: number) => negative(major(minor));
  const rest = totalOf(note) - applied_at_issue;
  return present({
    ...looksOf(note.issued_on, currency, details, query),
    title: 'Invoice',
    number: printedNumber('credit_note', note),
    isQuote: false,
    subtotal: minus(note.amount),
    ...negativeCharges(note),
    taxRate: note.tax_rate,
    taxAmount: minus(note.tax_amount),
    roundingAmount: note.rounding_amount && minus(note.rounding_amount),
    amount: minus(totalOf(note)),
    taxes: note.taxes?.map((tax) => negativeTax(printableTax(tax, currency, details.parties.issuer.locale))),
    pricesIncludeTax: line_items ? note.prices_include_tax : undefined,
    lineItems: negativeLines(note, minus),
    subject: line_items ? (description ?? undefined) : undefined,
    buyerReference: note.buyer_reference ?? details.parties.client.buyer_reference,
    poNumber: note.order_reference,
    contractReference: note.contract_reference,
    creditNote: {
      invoice: note.invoice_number,
      issuedOn: note.invoice_issued_on,
      reason: note.reason,
      ...(applied_at_issue > 0 ? { applied: major(applied_at_issue) } : {}),
      ...(rest > 0 ? { [settle === 'refund' ? 'refunded' : 'credit']: major(rest) } : {}),
    },
  });
}

/** Returns the charges as negative amounts. A credit note by amount has no lines, and so no charges between lines and total. */
function negativeCharges(note: CreditNoteRecord) {
  if (!note.line_items) return {};
  const charges = Object.entries(printableCharges(note));
  return Object.fromEntries(charges.map(([name, amount]) => [name, negative(amount ?? 0)]));
}

/** Returns lines with a negative quantity at the price of the invoice. Without lines and a description the renderer names the invoice. */
function negativeLines(note: CreditNoteRecord, minus: (minor: number) => number): PrintableLine[] {
  const lines = linesOf(note);
  if (lines.length === 0) return [{ description: '', amount: minus(note.amount) }];
  return lines.map(({ qty, amount = 0, ...line }) => {
    return { ...line, ...(qty === undefined ? {} : { qty: negated(String(qty)) }), amount: negative(amount) };
  });
}

function negativeTax({ taxable, tax, ...group }: PrintableTax): PrintableTax {
  return { ...group, taxable: negative(taxable), tax: negative(tax) };
}

function negative(amount: number): number {
  return amount === 0 ? 0 : -amount;
}

function negated(decimal: string): string {
  if (decimal === '0') return decimal;
  return decimal.startsWith('-') ? decimal.slice(1) : `-${decimal}`;
}
