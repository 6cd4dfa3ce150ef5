// A recurring invoice: the lines and time that it bills, its schedule, and its progress.

import type { ErrorCode, Params, ProblemBody } from '../../errors.ts';
import type { DocumentCharges } from '../../rules/documents/document-charges.ts';
import { type LineItem, lineItemField } from '../../rules/documents/line-item.ts';
import type { EarlyPaymentDiscount } from '../../rules/money/early-payment.ts';
import { type Schedule, upcomingDays } from '../../rules/time/recurrence.ts';
import type { TimeGroup } from '../../rules/time/time-lines.ts';
import type { TimeRounding } from '../../rules/time/time-rounding.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from '../time/project.ts';
import { chargeFields, chargesView, type DocumentTexts, documentTextFields } from './document-fields.ts';

export const RECURRING_STATUSES = ['Active', 'Paused', 'Ended'] as const;

type RecurringStatus = (typeof RECURRING_STATUSES)[number];

/** `in_advance`: the period of a fee begins on the due day. `in_arrears`: it ends before that day. */
export const FEE_PERIODS = ['in_advance', 'in_arrears'] as const;

export type FeePeriod = (typeof FEE_PERIODS)[number];

/** The unbilled time of the client that each invoice includes: all until the day before. */
export interface IncludedTime {
  project_ids?: string[] | undefined;
  task_ids?: string[] | undefined;
  group_by: TimeGroup;
  rounding?: TimeRounding | undefined;
  missing_rate: 'refuse' | 'skip' | 'zero';
  line_text?: string | undefined;
  /** True when billable expenses in the currency of the invoice are included, too. */
  include_expenses?: boolean | undefined;
  /** The hours of each invoice that the fixed lines pay for, a plain decimal. */
  included_hours?: string | undefined;
  /** The members whose time it bills. Absent means all. */
  members?: string[] | undefined;
}

/** The error that kept an invoice from being made. A failure of an earlier release has a message alone. */
export interface RunFailure {
  message: string;
  at: Date;
  code?: ErrorCode;
  params?: Params;
  problems?: readonly ProblemBody[];
}

/**
 * A stored recurring invoice. A discount in percent has no amount here, because that follows from the lines of each
 * invoice.
 */
export interface RecurringInvoiceRecord extends Stamped, DocumentCharges, DocumentTexts {
  client_id: StoredId;
  project_id: StoredId | null;
  currency: string;
  /** A percentage. Null means the account's rate at the time of each invoice. */
  tax_rate: number | null;
  prices_include_tax?: true | undefined;
  description: string | null;
  line_items: LineItem[] | null;
  schedule: Schedule;
  /** Absent means in advance. */
  fee_period?: 'in_arrears' | undefined;
  /** Null means the client's `payment_days`, else the account's. */
  due_days: number | null;
  /** The discounts for early payment of its invoices; none for an empty list. Absent where those of the client or the account apply. */
  early_payment_discounts?: EarlyPaymentDiscount[] | undefined;
  create_as: 'Draft' | 'Sent';
  include_time: IncludedTime | null;
  status: RecurringStatus;
  /**
   * The number of occurrences of earlier schedules. Numbers of occurrences never repeat, so those of `schedule` count
   * on from here.
   */
  first_occurrence: number;
  /** The index of the next occurrence within `schedule`, from 0. */
  next_index: number;
  /** The day of the next occurrence, `YYYY-MM-DD`. Absent when the schedule has ended. */
  next_on?: string | undefined;
  /** The last missed occurrence, while the scheduler catches up. */
  catching_up_to?: number | undefined;
  made: number;
  last_invoice?: { _id: StoredId; invoice_number: string } | undefined;
  last_period_to?: string | undefined;
  /** The error that keeps the due occurrence from being made. */
  last_error?: RunFailure | undefined;
  /** `YYYY-MM-DD`. After a failure the scheduler tries once a day. */
  retry_on?: string | undefined;
}

export const recurringListing: ListingOf<RecurringInvoiceRecord, 'created_at' | 'updated_at' | 'next_on'> = {
  filters: ['client_id', 'status'],
  orders: { created_at: '_id', updated_at: 'updated_at', next_on: 'next_on' },
  standard: '-created_at',
};

const recurringSchema = recordSchema<RecurringInvoiceRecord>(
  'recurring_invoices',
  {
    client_id: requiredIdField,
    project_id: idField,
    currency: { type: String, required: true },
    tax_rate: Number,
    prices_include_tax: Boolean,
    description: String,
    ...documentTextFields,
    ...chargeFields,
    line_items: lineItemField,
    schedule: { type: Object, required: true },
    fee_period: String,
    due_days: Number,
    early_payment_discounts: { type: [Object], default: undefined },
    create_as: { type: String, enum: ['Draft', 'Sent'], required: true },
    include_time: Object,
    status: { type: String, enum: RECURRING_STATUSES, required: true },
    first_occurrence: { type: Number, required: true },
    next_index: { type: Number, required: true },
    next_on: String,
    catching_up_to: Number,
    made: { type: Number, required: true },
    last_invoice: Object,
    last_period_to: String,
    last_error: Object,
    retry_on: String,
  },
  recurringListing,
);
// The scheduler looks for recurring invoices of all accounts here.
recurringSchema.index({ next_on: 1 }, { partialFilterExpression: { status: 'Active' } });
// Deleting or moving a project or a task looks here for recurring invoices.
recurringSchema.index({ account_id: 1, project_id: 1 });
for (const field of ['include_time.project_ids', 'include_time.task_ids']) {
  recurringSchema.index({ account_id: 1, [field]: 1 }, { partialFilterExpression: { [field]: { $exists: true } } });
}

export const RecurringInvoice = recordsOf<RecurringInvoiceRecord>('RecurringInvoice', recurringSchema);

/** The number of coming days that a response shows. */
const UPCOMING = 12;

function runFailureView({ message, at, code, params, problems }: RunFailure) {
  return {
    message,
    at: at.toISOString(),
    code: code ?? null,
    params: params ?? null,
    problems: problems ?? [],
  };
}

/** Returns the recurring invoice in the form of the API. */
export function recurringInvoiceView(
  recurring: RecurringInvoiceRecord,
  { client, project }: { client: ClientDetails | undefined; project: ProjectDetails | undefined },
) {
  const { every, unit, start_on, day, end_on, count } = recurring.schedule;
  const { include_time: time, last_error } = recurring;
  return {
    id: String(recurring._id),
    client: client ? embeddedClient(client) : null,
    project: project ? embeddedProject(project) : null,
    currency: recurring.currency,
    tax_rate: recurring.tax_rate ?? null,
    prices_include_tax: recurring.prices_include_tax ?? false,
    description: recurring.description ?? null,
    notes: recurring.notes ?? null,
    terms: recurring.terms ?? null,
    ...chargesView(recurring),
    line_items: recurring.line_items ?? null,
    schedule: { every, unit, start_on, day: day ?? null, end_on: end_on ?? null, count: count ?? null },
    fee_period: (recurring.fee_period ?? 'in_advance') as FeePeriod,
    due_days: recurring.due_days ?? null,
    create_as: recurring.create_as,
    include_time: time
      ? {
          project_ids: time.project_ids ?? null,
          task_ids: time.task_ids ?? null,
          group_by: time.group_by,
          rounding: time.rounding ?? null,
          missing_rate: time.missing_rate,
          line_text: time.line_text ?? null,
          include_expenses: time.include_expenses ?? false,
          included_hours: time.included_hours === undefined ? null : Number(time.included_hours),
          members: time.members ?? null,
        }
      : null,
    status: recurring.status,
    next_on: recurring.next_on ?? null,
    upcoming: recurring.status === 'Ended' ? [] : upcomingDays(recurring.schedule, recurring.next_index, UPCOMING),
    occurrences_made: recurring.made,
    last_invoice: recurring.last_invoice
      ? { id: String(recurring.last_invoice._id), invoice_number: recurring.last_invoice.invoice_number }
      : null,
    last_error: last_error ? runFailureView(last_error) : null,
    created_at: recurring.created_at.toISOString(),
    updated_at: recurring.updated_at.toISOString(),
    early_payment_discounts: recurring.early_payment_discounts ?? null,
  };
}
