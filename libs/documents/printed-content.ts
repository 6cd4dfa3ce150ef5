// The fingerprint of what a document prints. It names the version of a document, and so finds the original of that version.
import { hash } from 'node:crypto';
import { pick } from 'es-toolkit/object/pick';
import { stringify } from 'safe-stable-stringify';
import type { CreditNoteRecord } from '../models/billing/credit-note.ts';
import type { InvoiceRecord } from '../models/billing/invoice.ts';
import { REFERENCES } from '../models/billing/invoice-references.ts';
import type { PaymentRecord } from '../models/billing/payment.ts';
import type { QuoteRecord } from '../models/billing/quote.ts';
import type { Version } from '../models/documents/original.ts';
import type { NumberKind } from '../rules/documents/number-kinds.ts';

/** The stored fields that are printed. A new one is added here: it is absent from older records, whose fingerprint stays. */
const MONEY = [
  'number',
  'number_text',
  'currency',
  'amount',
  'tax_amount',
  'tax_rate',
  'tax_category',
  'taxes',
  'prices_include_tax',
  'rounding_amount',
  'discount_amount',
  'shipping_amount',
  'description',
  'line_items',
  'parties',
] as const;
const DOCUMENT = [...MONEY, 'issue_date', 'created_at', 'service_date', 'service_period', 'notes', 'terms'] as const;

export interface RecordOfKind {
  invoice: InvoiceRecord;
  quote: QuoteRecord;
  credit_note: CreditNoteRecord;
  payment: PaymentRecord;
}

/** The printed fields of each kind. What is left of an invoice to pay is not among them: its original was printed when all was. */
export const PRINTED_FIELDS: { readonly [Kind in NumberKind]: readonly (keyof RecordOfKind[Kind])[] } = {
  invoice: [...DOCUMENT, 'due_date', 'quote_part', ...REFERENCES, 'early_payment_discounts', 'corrects_number'],
  quote: [...DOCUMENT, 'expires_at', 'early_payment_discounts'],
  credit_note: [
    ...MONEY,
    ...REFERENCES,
    'issued_on',
    'invoice_number',
    'invoice_issued_on',
    'reason',
    'settle',
    'applied_at_issue',
  ],
  payment: [
    'number',
    'number_text',
    'currency',
    'amount',
    'unallocated',
    'allocations',
    'refunds',
    'date',
    'method',
    'reference',
    'status',
    'parties',
  ],
};

/** Returns the version of the document that the record is now. */
export function versionOf<Kind extends NumberKind>(kind: Kind, record: RecordOfKind[Kind]): Version & { kind: Kind } {
  return { kind, documentId: record._id, clientId: record.client_id, content: printedContent(kind, record) };
}

/** Returns the fingerprint, a SHA-256 in base64url. Records that print the same have the same one in every release. */
export function printedContent<Kind extends NumberKind>(kind: Kind, record: RecordOfKind[Kind]): string {
  const printed = pick(record, [...PRINTED_FIELDS[kind]]);
  return hash('sha256', String(stringify(printed)), 'base64url');
}
