// A document that takes back an issued invoice or a part of it. It is never edited. Its sum pays invoices, is refunded,
// or stays credit.
import { sumBy } from 'es-toolkit/math/sumBy';
import {
  CREDIT_REASONS,
  CREDIT_SETTLEMENTS,
  type CreditReason,
  type CreditSettlement,
} from '../../rules/credits/credit-reasons.ts';
import type { DiscountShare } from '../../rules/documents/document-charges.ts';
import { type LineItem, lineItemField } from '../../rules/documents/line-item.ts';
import { fromMinor } from '../../rules/money/money.ts';
import { type DocumentTax, taxesView } from '../../rules/taxes/document-taxes.ts';
import type { TaxCategory } from '../../rules/taxes/tax-groups.ts';
import type { ListingOf } from '../list-indexes.ts';
import { COUNTED_TOGETHER } from '../record-counts.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import {
  ALLOCATION_FIELDS,
  type CreditAllocation,
  type CreditRefund,
  REFUND_FIELDS,
  refundView,
} from './allocation.ts';
import { type InvoiceReferences, referenceFields, referencesView } from './invoice-references.ts';
import { printedNumber } from './number-ledger.ts';
import { frozenClient, type Parties, partiesField } from './parties.ts';

/** The prepaid hours of a line of its invoice that it gave back. */
export interface ReturnedHours {
  package_id: StoredId;
  /** The id of the line in the invoice's `time`. */
  line: number;
  seconds: number;
}

/**
 * A stored credit note, with the references of its invoice. Amounts are in the currency's smallest unit and never negative:
 * the PDF adds the minus.
 */
export interface CreditNoteRecord extends Stamped, InvoiceReferences {
  /** The number in the account's sequence. 0 in a dry run, which draws none. */
  number: number;
  number_text?: string | undefined;
  number_period?: string | undefined;
  client_id: StoredId;
  /** The invoice that it corrects, and its number as it was issued. */
  invoice_id: StoredId;
  invoice_number: string;
  invoice_issued_on: string;
  currency: string;
  amount: number;
  tax_rate: number;
  tax_amount: number;
  /** Its part of the rounding of its invoice. The last credit note takes what is left of it. */
  rounding_amount?: number | undefined;
  /** The terms of the invoice, see DocumentRecord. */
  tax_category?: TaxCategory | undefined;
  prices_include_tax?: true | undefined;
  taxes?: DocumentTax[] | undefined;
  reason: CreditReason;
  description: string | null;
  line_items: LineItem[] | null;
  /**
   * Its shares of the invoice's discount and shipping, with tax where prices include it. Absent where there is none.
   */
  discount_amount?: number | undefined;
  shipping_amount?: number | undefined;
  /** The shares of a credit by line in the discount, see credited-charges.ts. */
  discounts?: DiscountShare[] | undefined;
  /** The work that it names, see named-work.ts; absent where it names none. */
  time_entry_ids?: StoredId[] | undefined;
  expense_ids?: StoredId[] | undefined;
  hours_returned?: ReturnedHours[] | undefined;
  settle: CreditSettlement;
  /** The amount that it took off its invoice when it was issued. The PDF always shows this amount. */
  applied_at_issue: number;
  /** The amount that no invoice and no refund has. */
  unallocated: number;
  /** On its own invoice an allocation reduces what is due; another invoice it pays. */
  allocations: CreditAllocation[];
  refunds: CreditRefund[];
  /** The external ids of `refunds`, for the unique index. */
  refund_external_ids?: string[] | undefined;
  /** `YYYY-MM-DD`. */
  issued_on: string;
  /** The frozen parties of the invoice. */
  parties: Parties;
}

export const creditNoteListing: ListingOf<CreditNoteRecord, 'created_at' | 'updated_at' | 'date'> = {
  filters: ['client_id', 'invoice_id'],
  orders: { created_at: '_id', updated_at: 'updated_at', date: 'issued_on' },
  standard: '-created_at',
  ranges: ['date'],
  // The issuer may contain an inlined logo.
  omitted: ['parties.issuer'],
};

const creditNoteSchema = recordSchema<CreditNoteRecord>(
  'credit_notes',
  {
    number: { type: Number, required: true },
    number_text: String,
    number_period: String,
    client_id: requiredIdField,
    invoice_id: requiredIdField,
    invoice_number: { type: String, required: true },
    invoice_issued_on: { type: String, required: true },
    ...referenceFields,
    currency: { type: String, required: true },
    amount: { type: Number, required: true },
    tax_rate: { type: Number, required: true },
    tax_amount: { type: Number, required: true },
    rounding_amount: Number,
    tax_category: String,
    prices_include_tax: Boolean,
    taxes: { type: [Object], default: undefined },
    reason: { type: String, enum: CREDIT_REASONS, required: true },
    description: String,
    line_items: lineItemField,
    discount_amount: Number,
    shipping_amount: Number,
    discounts: { type: [Object], default: undefined },
    time_entry_ids: { type: [idField], default: undefined },
    expense_ids: { type: [idField], default: undefined },
    hours_returned: {
      type: [{ _id: false, package_id: requiredIdField, line: Number, seconds: Number }],
      default: undefined,
    },
    settle: { type: String, enum: CREDIT_SETTLEMENTS, required: true },
    applied_at_issue: { type: Number, required: true },
    unallocated: { type: Number, required: true },
    allocations: [ALLOCATION_FIELDS],
    refunds: [REFUND_FIELDS],
    refund_external_ids: { type: [String], default: undefined },
    issued_on: { type: String, required: true },
    parties: partiesField,
  },
  creditNoteListing,
);
// A refund with an external id is booked once.
creditNoteSchema.index(
  { account_id: 1, refund_external_ids: 1 },
  { unique: true, partialFilterExpression: { refund_external_ids: { $exists: true } } },
);
// The allocations of credit notes to an invoice are found along this index.
creditNoteSchema.index({ account_id: 1, 'allocations.invoice_id': 1 });
// The credit of a client is found here: credit notes with something left of them.
creditNoteSchema.index(
  { account_id: 1, client_id: 1, unallocated: 1 },
  { partialFilterExpression: { unallocated: { $gt: 0 } } },
);

export const CreditNote = recordsOf<CreditNoteRecord>('CreditNote', creditNoteSchema, COUNTED_TOGETHER);

/** Returns the amount that an allocation is worth to its invoice today. */
export function liveCredit({ amount, released_on }: CreditAllocation): number {
  return released_on === undefined ? amount : 0;
}

/** Returns the amount that the credit note takes off the invoice that it corrects. */
function appliedOf({ invoice_id, allocations }: Pick<CreditNoteRecord, 'invoice_id' | 'allocations'>): number {
  return sumBy(allocations, (part) => (part.invoice_id.equals(invoice_id) ? liveCredit(part) : 0));
}

/** Returns the credit note in the form of the API. */
export function creditNoteView(note: CreditNoteRecord) {
  const { currency } = note;
  const major = (amount: number) => fromMinor(amount, currency);
  return {
    id: String(note._id),
    credit_note_number: note.number === 0 ? null : printedNumber('credit_note', note),
    invoice: { id: String(note.invoice_id), invoice_number: note.invoice_number, issued_on: note.invoice_issued_on },
    client: frozenClient(note.parties),
    ...referencesView(note),
    currency,
    reason: note.reason,
    description: note.description ?? null,
    line_items: note.line_items ?? null,
    discount_amount: major(note.discount_amount ?? 0),
    shipping_amount: major(note.shipping_amount ?? 0),
    amount: major(note.amount),
    tax_rate: note.tax_rate,
    tax_amount: major(note.tax_amount),
    taxes: taxesView(note),
    prices_include_tax: note.prices_include_tax ?? false,
    total: major(note.amount + note.tax_amount),
    rounding_amount: major(note.rounding_amount ?? 0),
    applied_to_invoice: major(appliedOf(note)),
    allocations: note.allocations.map((part) => ({
      id: String(part._id),
      invoice: { id: String(part.invoice_id), invoice_number: part.invoice_number },
      amount: major(part.amount),
      date: part.date,
      released_on: part.released_on ?? null,
    })),
    refunded: major(sumBy(note.refunds, ({ amount }) => amount)),
    refunds: note.refunds.map((refund) => refundView(refund, major)),
    unallocated: major(note.unallocated),
    issued_on: note.issued_on,
    time_entry_ids: (note.time_entry_ids ?? []).map(String),
    expense_ids: (note.expense_ids ?? []).map(String),
    created_at: note.created_at.toISOString(),
    updated_at: note.updated_at.toISOString(),
  };
}
