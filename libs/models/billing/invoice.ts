// An invoice: the amount that a client has to pay, and the day on which it is due.
import { agreedDate } from '../../clock.ts';
import { INVOICE_STATUSES, type InvoiceStatus, isPayable } from '../../rules/documents/invoice-states.ts';
import { dueOf } from '../../rules/money/balance.ts';
import { discountTaken, type EarlyPaymentDiscount } from '../../rules/money/early-payment.ts';
import { fromMinor } from '../../rules/money/money.ts';
import { QUOTE_PARTS, type QuotePart } from '../../rules/quotes/quote-parts.ts';
import { REST_REASONS, type ReminderRest } from '../../rules/reminders/reminder-rest.ts';
import { type ReminderRule, reminderRuleView } from '../../rules/reminders/reminder-steps.ts';
import { taxesView } from '../../rules/taxes/document-taxes.ts';
import type { ClientDetails } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf } from '../records.ts';
import { countedByStatusAndMonth, type StatusFilter, withSent } from '../status-filter.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from '../time/project.ts';
import { documentDatesView } from './document-dates.ts';
import { documentDeliveryView } from './document-delivery.ts';
import { chargesView, type DocumentRecord, documentFields } from './document-fields.ts';
import { expiryOf } from './expiry.ts';
import { type InvoiceExpenses, invoiceExpensesField } from './invoice-expenses.ts';
import { type InvoiceReferences, referenceFields, referencesView } from './invoice-references.ts';
import { type InvoiceTime, invoiceTimeField } from './invoice-time.ts';
import { printedNumber } from './number-ledger.ts';
import { shownClient } from './parties.ts';

/**
 * An amount that the account no longer asks for. It is never edited. It is reversed alone, or with the payment that it
 * came with.
 */
export interface WriteOff {
  _id: StoredId;
  amount: number;
  /** `YYYY-MM-DD`. */
  date: string;
  reason: string;
  /** The payment whose rest was written off. */
  payment_id?: StoredId | undefined;
  reversed_on?: string | undefined;
}

/** The recurring invoice and its occurrence that this invoice is. */
interface InvoiceRecurrence {
  id: StoredId;
  /** The number of the occurrence, from 1. */
  occurrence: number;
  /** `YYYY-MM-DD`; both days belong to the period. */
  period_from: string;
  period_to: string;
  /** Hours that the fixed lines pay for, a plain decimal. Absent once lines of time were edited by hand. */
  included_hours?: string | undefined;
  /** True on the invoice of a missed occurrence, which its owner has to check. */
  is_catch_up?: true | undefined;
}

/** The part of a project's fixed amount that the invoice bills, in the smallest unit. */
interface FixedPart {
  project_id: StoredId;
  amount: number;
  /** The amount that credit notes cancelled or corrected, and so gave back to the project. */
  corrected?: number | undefined;
}

/** The amount that a final invoice takes off for an earlier part of its quote, in the smallest unit, see agreedSum. */
export interface QuoteDeduction {
  invoice_id: StoredId;
  /** The number as it is printed. */
  number: string;
  /** The day of the part (`YYYY-MM-DD`). Absent on a part without one. */
  issued_on?: string | undefined;
  amount: number;
}

/** A stored invoice. Amounts are in the currency's smallest unit. */
export interface InvoiceRecord extends DocumentRecord, InvoiceReferences {
  /** The issued invoice that this one takes the place of, its printed number, and its day (`YYYY-MM-DD`), which never change. */
  corrects?: StoredId | undefined;
  corrects_number?: string | undefined;
  corrects_issued_on?: string | undefined;
  /** The discounts for early payment. Absent where there are none. */
  early_payment_discounts?: EarlyPaymentDiscount[] | undefined;
  amount_paid: number;
  /** The amount that credit notes took off what was due. */
  amount_credited?: number | undefined;
  /** The sum of its credit notes, with tax. It exceeds `amount_credited` where something was paid already. */
  total_credited?: number | undefined;
  /** True when credit notes cancelled or corrected all of it. Its time and its quote can then be billed again. */
  is_reversed?: true | undefined;
  /** The sum of the write-offs that are not reversed. */
  amount_written_off?: number | undefined;
  write_offs?: WriteOff[] | undefined;
  /** The day on which a paid invoice was paid, see paid-on.ts. */
  paid_on?: string | undefined;
  /** The day on which a cancelled invoice was cancelled. */
  cancelled_on?: string | undefined;
  /** The status that was set. Readers see `effectiveInvoiceStatus`. */
  status: InvoiceStatus;
  /** `YYYY-MM-DD`. */
  due_date: string;
  /** The quote that it bills, with its printed number and the part. */
  quote_id?: StoredId;
  quote_number?: string;
  quote_part?: QuotePart;
  /** The quote again on its one full or final invoice, for a unique index. Absent once the invoice is cancelled. */
  quote_claim?: StoredId | undefined;
  /** The deductions of a final invoice. */
  quote_deducted?: QuoteDeduction[] | undefined;
  /** Absent on an invoice that bills no time. */
  time?: InvoiceTime | undefined;
  /** Absent on an invoice that bills no expenses. */
  expenses?: InvoiceExpenses | undefined;
  fixed_part?: FixedPart | undefined;
  /** Whether it is reminded of. The client's rule counts as well. */
  reminders?: ReminderRule | undefined;
  /** The time at which the scheduler must look whether a reminder goes out. Absent when none will. */
  reminder_due_at?: Date | undefined;
  /** Absent on an invoice that no schedule made. */
  recurring?: InvoiceRecurrence | undefined;
  /** Absent while nothing of the client is open that reminders wait for. */
  reminder_rest?: ReminderRest | undefined;
}

const writeOff = {
  _id: requiredIdField,
  amount: { type: Number, required: true },
  date: { type: String, required: true },
  reason: { type: String, required: true },
  payment_id: idField,
  reversed_on: String,
};

export const invoiceListing: ListingOf<InvoiceRecord, 'created_at' | 'updated_at' | 'due_date' | 'issue_date'> = {
  filters: ['client_id', 'status'],
  orders: { created_at: '_id', updated_at: 'updated_at', due_date: 'due_date', issue_date: 'issue_date' },
  unique: ['number_text'],
  standard: '-created_at',
  ranges: ['issue_date', 'due_date'],
  // The issuer may contain an inlined logo.
  omitted: ['parties.issuer'],
  // A count of overdue invoices with something to pay needs no record.
  covers: { due_date: ['amount'] },
};

const invoiceSchema = recordSchema<InvoiceRecord>(
  'invoices',
  {
    ...documentFields,
    corrects: idField,
    corrects_number: String,
    corrects_issued_on: String,
    early_payment_discounts: { type: [Object], default: undefined },
    amount_paid: { type: Number, required: true, default: 0 },
    amount_credited: Number,
    total_credited: Number,
    is_reversed: Boolean,
    amount_written_off: Number,
    write_offs: { type: [writeOff], default: undefined },
    paid_on: String,
    cancelled_on: String,
    status: { type: String, enum: INVOICE_STATUSES, required: true },
    due_date: { type: String, required: true },
    time: invoiceTimeField,
    expenses: invoiceExpensesField,
    quote_id: idField,
    quote_number: String,
    quote_part: { type: String, enum: QUOTE_PARTS },
    quote_claim: idField,
    quote_deducted: {
      type: [{ _id: false, invoice_id: requiredIdField, number: String, issued_on: String, amount: Number }],
      default: undefined,
    },
    fixed_part: {
      type: { _id: false, project_id: requiredIdField, amount: Number, corrected: Number },
      default: undefined,
    },
    recurring: Object,
    reminder_rest: {
      type: { _id: false, resumes_on: String, because: { type: String, enum: REST_REASONS } },
      default: undefined,
    },
    reminders: Object,
    reminder_due_at: Date,
    ...referenceFields,
  },
  invoiceListing,
);
// Deleting a project looks here for its invoices.
invoiceSchema.index({ account_id: 1, project_id: 1 });
// The invoices of a quote are found along this index.
invoiceSchema.index({ account_id: 1, quote_id: 1 }, { partialFilterExpression: { quote_id: { $exists: true } } });
// The invoices that bill a fixed amount are found along this index.
invoiceSchema.index(
  { account_id: 1, 'fixed_part.project_id': 1 },
  { partialFilterExpression: { fixed_part: { $exists: true } } },
);
// A quote is billed in full, or by a final invoice, once.
invoiceSchema.index(
  { account_id: 1, quote_claim: 1 },
  { unique: true, partialFilterExpression: { quote_claim: { $exists: true } } },
);
// The scheduler looks for due invoices of all accounts here.
invoiceSchema.index({ expires_on: 1 }, { sparse: true });
invoiceSchema.index({ reminder_due_at: 1 }, { sparse: true });

/** The index along which operators see the business of a day over all accounts. It has every field that they read. */
export const DATED_INVOICES = { issue_date: 1, status: 1, currency: 1, amount: 1 } as const;
invoiceSchema.index(DATED_INVOICES, { partialFilterExpression: { issue_date: { $exists: true } } });

// The open invoices of a client, oldest first.
invoiceSchema.index({ account_id: 1, client_id: 1, status: 1, due_date: 1, _id: 1 });

export const Invoice = recordsOf<InvoiceRecord>(
  'Invoice',
  invoiceSchema,
  countedByStatusAndMonth<InvoiceRecord>('due_date', {
    of: isPayable,
    groups: { amount: { $cond: [{ $gt: ['$amount', 0] }, 1, 0] } },
    index: { amount: 1 },
  }),
);

/**
 * Returns the marks that the scheduler looks for: of the expiry event, see expiry.ts, and of reminders, which it plans at
 * the first look. An invoice of 0 has neither.
 */
export function invoiceMarks({ status, amount, due_date }: Pick<InvoiceRecord, 'status' | 'amount' | 'due_date'>) {
  if (!isPayable({ amount })) return { expires_on: undefined, reminder_due_at: undefined };
  const isOpen = OPEN_STATUSES.includes(status);
  return { ...expiryOf(status, due_date), reminder_due_at: isOpen ? agreedDate() : undefined };
}

/** The stored statuses of an invoice that is issued and not settled. */
export const OPEN_STATUSES: readonly InvoiceStatus[] = ['Sent', 'Overdue'];

/** True while the invoice is issued and something of it is due. */
export function isOpen(invoice: Parameters<typeof dueOf>[0] & Pick<InvoiceRecord, 'status'>): boolean {
  return OPEN_STATUSES.includes(invoice.status) && dueOf(invoice) > 0;
}

/** Returns the filter of invoices whose status is one of `statuses` on the day `today`. */
export function invoicesWithStatus(statuses: readonly InvoiceStatus[], today: string): StatusFilter {
  const canExpire = { yes: { amount: { $gt: 0 } }, no: { amount: 0 } };
  return withSent({ statuses, expired: 'Overdue', field: 'due_date', today, canExpire });
}

/** Returns the invoice in the form of the API. @param status as it was set, or as it is today. */
export function invoiceView(
  invoice: InvoiceRecord,
  {
    client,
    project,
    status,
  }: { client: ClientDetails | undefined; project: ProjectDetails | undefined; status: InvoiceStatus },
) {
  const { currency, amount, tax_amount, amount_paid } = invoice;
  return {
    id: String(invoice._id),
    invoice_number: invoice.number === 0 ? null : printedNumber('invoice', invoice),
    amount: fromMinor(amount, currency),
    currency,
    status,
    due_date: invoice.due_date,
    ...documentDatesView(invoice),
    tax_rate: invoice.tax_rate,
    description: invoice.description,
    notes: invoice.notes ?? null,
    terms: invoice.terms ?? null,
    ...referencesView(invoice),
    line_items: invoice.line_items,
    client: shownClient(invoice.parties, client),
    project: project ? embeddedProject(project) : null,
    quote: invoice.quote_id ? { id: String(invoice.quote_id), quote_number: invoice.quote_number ?? null } : null,
    quote_part: invoice.quote_part ?? null,
    fixed_part: fixedPartView(invoice),
    recurring: recurrenceView(invoice),
    subtotal: fromMinor(invoice.subtotal ?? amount, currency),
    ...chargesView(invoice),
    tax_amount: fromMinor(tax_amount, currency),
    taxes: taxesView(invoice),
    prices_include_tax: invoice.prices_include_tax ?? false,
    total: fromMinor(amount + tax_amount, currency),
    rounding_amount: fromMinor(invoice.rounding_amount ?? 0, currency),
    amount_paid: fromMinor(amount_paid, currency),
    amount_credited: fromMinor(invoice.amount_credited ?? 0, currency),
    total_credited: fromMinor(invoice.total_credited ?? 0, currency),
    amount_written_off: fromMinor(invoice.amount_written_off ?? 0, currency),
    early_payment_discounts: invoice.early_payment_discounts ?? null,
    corrects: invoice.corrects ? String(invoice.corrects) : null,
    corrects_number: invoice.corrects_number ?? null,
    amount_discounted: fromMinor(discountTaken(invoice), currency),
    amount_due: status === 'Cancelled' ? 0 : fromMinor(dueOf(invoice), currency),
    paid_on: invoice.paid_on ?? null,
    cancelled_on: invoice.cancelled_on ?? null,
    created_at: invoice.created_at.toISOString(),
    updated_at: invoice.updated_at.toISOString(),
    delivery: documentDeliveryView(invoice),
    reminder_rest: invoice.reminder_rest ?? null,
    reminders: reminderRuleView(invoice.reminders),
  };
}

function recurrenceView({ recurring }: InvoiceRecord) {
  if (!recurring) return null;
  const { id, occurrence, period_from, period_to } = recurring;
  return { id: String(id), occurrence, period_from, period_to };
}

function fixedPartView({ fixed_part, currency }: InvoiceRecord) {
  if (!fixed_part) return null;
  const { project_id, amount, corrected = 0 } = fixed_part;
  return {
    project_id: String(project_id),
    amount: fromMinor(amount, currency),
    corrected: fromMinor(corrected, currency),
  };
}
