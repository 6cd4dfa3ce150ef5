// A workspace: the owner of keys and records, and the issuer on its documents.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { unauthorized } from '../../errors.ts';
import type { PostalAddress } from '../../identifiers/postal-address.ts';
import type { Session } from '../../mongo/connection.ts';
import { type NumberFormats, numberFormat } from '../../rules/documents/number-format.ts';
import type { EarlyPaymentDiscount } from '../../rules/money/early-payment.ts';
import type { PaymentOption } from '../../rules/paying/payment-options.ts';
import { REMIND_AT_STANDARD, type ReminderStep } from '../../rules/reminders/reminder-steps.ts';
import type { MemberRate } from '../../rules/time/hourly-rate.ts';
import type { TimeRounding } from '../../rules/time/time-rounding.ts';
import { driverOf } from '../records.ts';
import { type Id, idField, newId, storedId, wireId } from '../tenant.ts';
import {
  type ElectronicAddress,
  type LegalId,
  legalIdView,
  paymentOptionsView,
  postalAddressView,
} from './party-fields.ts';

/** The statuses of projects where an account has not set its own. */
export const DEFAULT_PROJECT_STATUSES = ['In Progress', 'Awaiting Approval', 'Complete'] as const;

/** The most hours of one time entry where an account has not set its own limit: a day. */
export const DEFAULT_ENTRY_HOURS = 24;
/** The largest limit that an account can set. A year has fewer hours, and totals in seconds stay exact. */
export const ENTRY_HOURS_LIMIT = 10_000;

/** The days until an invoice is due, where neither client nor account sets them. */
export const DEFAULT_PAYMENT_DAYS = 30;

/**
 * A test account is for trials: its keys begin with `bh_test_`, and its documents and webhooks say that they are a
 * test.
 */
export const ACCOUNT_MODES = ['live', 'test'] as const;

export type AccountMode = (typeof ACCOUNT_MODES)[number];

/** The id below that of every invoice, see `reminders_changed_after`. */
const FROM_THE_FIRST = '00000000-0000-0000-0000-000000000000';

/** The fields that decide when reminders go out. */
const OF_REMINDERS = ['reminders', 'remind_at', 'time_zone'] as const satisfies readonly (keyof AccountRecord)[];

/**
 * Returns the field that lets the scheduler look again at all open invoices, where these changes move reminders. It looks
 * at those without reminders only once.
 */
export function replanning(changes: object): { reminders_changed_after?: string } {
  return OF_REMINDERS.some((name) => name in changes) ? { reminders_changed_after: FROM_THE_FIRST } : {};
}

/** The settings of mail. Absent fields have their defaults. */
export interface MailSettings {
  /** The name beside the address of the sender. The company, or the name, unless given. */
  from_name?: string | null | undefined;
  /** The address for replies. The account's own unless given. */
  reply_to?: string | null | undefined;
  /** An address that gets a blind copy of every mail. */
  bcc?: string | null | undefined;
}

/** The account's own Stripe account. Both secrets are sealed, see secret-box.ts. */
export interface StripeSettings {
  /** The id in the path that Stripe calls. */
  hook_id: string;
  key: string;
  signing_secret: string;
  mode: 'test' | 'live';
  created_at: Date;
  updated_at: Date;
}

const accountSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    name: { type: String, required: true },
    /** The mode never changes, because keys, numbers and documents depend on it. */
    mode: { type: String, enum: ACCOUNT_MODES, required: true, default: 'live' },
    email: String,
    company: String,
    address: String,
    tax_id: String,
    bank_details: String,
    legal_name: String,
    /** These fields and payment_options are described in party-fields.ts. */
    legal_id: Object,
    vat_id: String,
    tax_number: String,
    /** A text in the foot of documents, for instance register court, directors, or the reason for charging no tax. */
    legal_note: String,
    electronic_address: Object,
    postal_address: Object,
    phone: String,
    payment_options: { type: [Object], default: undefined },
    logo_url: String,
    brand_color: String,
    default_tax_rate: Number,
    /** The reason for charging no tax. Documents print it where category E is. */
    tax_exemption_note: String,
    /** True when documents may be dated before the last one that was issued. */
    allow_backdating: Boolean,
    /** An IANA name. It decides on which calendar day an invoice becomes overdue. */
    time_zone: { type: String, required: true, default: 'UTC' },
    /** A BCP 47 tag: the language and number format of printed documents. */
    locale: { type: String, required: true, default: 'en-US' },
    project_statuses: { type: [String], default: undefined },
    /**
     * The formats of document numbers, see number-format.ts. Once set, the field stays, even when all of it equals the
     * default again: numbers in other formats may have been drawn.
     */
    number_formats: Object,
    /** The step of rounded totals in major units of `currency`, see total-rounding.ts. */
    total_rounding: Number,
    /** The tolerance in major units. A payment that leaves no more than this writes the rest off. */
    settle_tolerance: Number,
    /** True when cancelling an issued invoice draws a credit note over the rest of it. */
    cancel_with_credit_note: Boolean,
    /** False when clients need no e-mail address. Absent means true. */
    require_client_email: Boolean,
    /** True when an invoice that lacks what the law wants is not issued, see legal-content.ts. */
    strict_invoices: Boolean,
    /** The format in which every invoice must be expressible, where the client has none. */
    e_invoice_format: String,
    /** True when the printed PDF stands in e-invoices in XML, where the client has no wish of its own. */
    e_invoice_pdf: Boolean,
    /** See MailSettings. */
    mail: Object,
    /** See StripeSettings. */
    stripe: Object,
    /** The discounts for early payment of new invoices, see early-payment.ts. */
    early_payment_discounts: { type: [Object], default: undefined },
    /** True when the receipt of each payment is mailed by itself. */
    receipts: Boolean,
    /** The steps of reminders, see reminder-steps.ts. Absent when none go out by themselves. */
    reminders: { type: [Object], default: undefined },
    /** The time of day at which they leave, `HH:MM` in `time_zone`. REMIND_AT_STANDARD when absent. */
    remind_at: String,
    /**
     * Set after a change of the steps or of their time: the scheduler looks at the open invoices with a higher id again,
     * see plan-reminders.ts. FROM_THE_FIRST at the beginning.
     */
    reminders_changed_after: String,
    /** The time of the next look at the follow-ups, see announce-follow-ups.ts. Absent before the first one is planned. */
    follow_ups_due_at: Date,
    /** The most hours of one time entry. DEFAULT_ENTRY_HOURS when absent. */
    max_entry_hours: Number,
    /** `YYYY-MM-DD`. Time before this day cannot be logged, changed or deleted. */
    time_locked_before: String,
    /**
     * A counter for the row lock of the account. Transactions that add to what it keeps raise it one after the other,
     * see batch-file.ts.
     */
    lock_version: Number,
    /** The rate for time where neither time entry, task, project nor client has one. */
    hourly_rate: Number,
    /** The rates of single members, see hourly-rate.ts. */
    member_rates: Object,
    /** The currency of new invoices from time. */
    currency: String,
    /** The days from the date of an invoice to its due date, where the caller names none. */
    payment_days: Number,
    /** The rounding of time, see time-rounding.ts. */
    rounding: Object,
    created_at: { type: Date, required: true, default: () => new Date() },
    updated_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'accounts' },
);

// Operators search for the beginning of a name, without case and accents.
accountSchema.index({ name: 1 }, { collation: { locale: 'en', strength: 1 } });
// The scheduler finds the accounts whose reminders were changed.
accountSchema.index({ reminders_changed_after: 1 }, { sparse: true });

// The scheduler finds the accounts whose follow-ups are due, those that have no time yet first.
accountSchema.index({ follow_ups_due_at: 1 });

accountSchema.index({ 'stripe.hook_id': 1 }, { unique: true, sparse: true });

export type AccountRecord = InferSchemaType<typeof accountSchema>;

export const Account = model('Account', accountSchema);

/**
 * Reads the account from the database. Computations and frozen documents must not use a cached profile.
 * @throws AppError 401 when the account is gone, like the next request with its key.
 */
export async function readAccount(id: Id, session?: Session): Promise<AccountRecord> {
  const found = await driverOf(Account as never).findOne({ _id: storedId(id) }, session ? { session } : {});
  if (!found) throw unauthorized();
  return found as unknown as AccountRecord;
}

/** Returns the most hours that one time entry of the account may have. */
export function maxEntryHours({ max_entry_hours }: Pick<AccountRecord, 'max_entry_hours'>): number {
  return max_entry_hours ?? DEFAULT_ENTRY_HOURS;
}

/**
 * Returns the modes of accounts by id. The webhook service needs them, because it delivers for all accounts side by
 * side.
 */
export async function findAccountModes(ids: readonly Id[]): Promise<Map<Id, Pick<AccountRecord, '_id' | 'mode'>>> {
  const accounts = (await driverOf(Account as never)
    .find({ _id: { $in: [...new Set(ids)].map(storedId) } }, { projection: { mode: 1 } })
    .toArray()) as unknown as Pick<AccountRecord, '_id' | 'mode'>[];
  return new Map(accounts.map((account) => [wireId(account._id), account]));
}

/** Returns the account in the form of the API. */
export function accountView(account: AccountRecord) {
  return {
    id: String(account._id),
    name: account.name,
    mode: account.mode,
    email: account.email ?? null,
    company: account.company ?? null,
    address: account.address ?? null,
    tax_id: account.tax_id ?? null,
    bank_details: account.bank_details ?? null,
    legal_name: account.legal_name ?? null,
    legal_id: legalIdView(account.legal_id as LegalId | undefined),
    vat_id: account.vat_id ?? null,
    tax_number: account.tax_number ?? null,
    legal_note: account.legal_note ?? null,
    electronic_address: (account.electronic_address as ElectronicAddress | undefined) ?? null,
    postal_address: postalAddressView(account.postal_address as PostalAddress | undefined),
    phone: account.phone ?? null,
    payment_options: paymentOptionsView(account.payment_options as PaymentOption[] | undefined),
    logo_url: account.logo_url ?? null,
    brand_color: account.brand_color ?? null,
    default_tax_rate: account.default_tax_rate ?? null,
    tax_exemption_note: account.tax_exemption_note ?? null,
    allow_backdating: account.allow_backdating ?? false,
    time_zone: account.time_zone,
    locale: account.locale,
    max_entry_hours: maxEntryHours(account),
    time_locked_before: account.time_locked_before ?? null,
    settle_tolerance: account.settle_tolerance ?? 0,
    total_rounding: account.total_rounding ?? null,
    cancel_with_credit_note: account.cancel_with_credit_note ?? false,
    number_formats: {
      credit_note: numberFormat(account.number_formats as NumberFormats | undefined, 'credit_note'),
      invoice: numberFormat(account.number_formats as NumberFormats | undefined, 'invoice'),
      payment: numberFormat(account.number_formats as NumberFormats | undefined, 'payment'),
      quote: numberFormat(account.number_formats as NumberFormats | undefined, 'quote'),
    },
    hourly_rate: account.hourly_rate ?? null,
    member_rates: (account.member_rates as MemberRate[] | null | undefined) ?? null,
    currency: account.currency ?? null,
    payment_days: account.payment_days ?? DEFAULT_PAYMENT_DAYS,
    rounding: (account.rounding as TimeRounding | null | undefined) ?? null,
    project_statuses: account.project_statuses ?? [...DEFAULT_PROJECT_STATUSES],
    created_at: account.created_at.toISOString(),
    updated_at: account.updated_at.toISOString(),
    strict_invoices: account.strict_invoices ?? false,
    require_client_email: account.require_client_email ?? true,
    e_invoice_format: account.e_invoice_format ?? null,
    e_invoice_pdf: account.e_invoice_pdf ?? false,
    mail: mailSettingsView(account.mail as MailSettings | undefined),
    early_payment_discounts: (account.early_payment_discounts as EarlyPaymentDiscount[] | null | undefined) ?? null,
    receipts: account.receipts ?? false,
    reminders: stepsOf(account).length > 0 ? stepsOf(account) : null,
    remind_at: account.remind_at ?? REMIND_AT_STANDARD,
  };
}

/** Returns the steps of reminders. Empty when none go out by themselves. */
export function stepsOf({ reminders }: Pick<AccountRecord, 'reminders'>): ReminderStep[] {
  return ((reminders as ReminderStep[] | null | undefined) ?? []).map(({ days, template }) => ({ days, template }));
}

function mailSettingsView({ from_name, reply_to, bcc }: MailSettings = {}) {
  return { from_name: from_name || null, reply_to: reply_to || null, bcc: bcc || null };
}
