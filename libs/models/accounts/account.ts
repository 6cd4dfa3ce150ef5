// A workspace: the owner of keys and records, and the issuer its documents are printed from.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { unauthorized } from '../../errors.ts';
import type { PostalAddress } from '../../identifiers/postal-address.ts';
import type { Session } from '../../mongo/connection.ts';
import { type NumberFormats, numberFormat } from '../../rules/documents/number-format.ts';
import type { MemberRate } from '../../rules/time/hourly-rate.ts';
import type { TimeRounding } from '../../rules/time/time-rounding.ts';
import { driverOf } from '../records.ts';
import { type Id, idField, newId, storedId, wireId } from '../tenant.ts';
import {
  type ElectronicAddress,
  type LegalId,
  legalIdView,
  type PaymentOption,
  paymentOptionsView,
  postalAddressView,
} from './party-fields.ts';

/** Used where an account has not set its own. */
export const DEFAULT_PROJECT_STATUSES = ['In Progress', 'Awaiting Approval', 'Complete'] as const;

/** Hours of one time entry at most, where an account has not set its own: a day. */
export const DEFAULT_ENTRY_HOURS = 24;
/** What an account can set at most: more than a year has, and totals in seconds stay exact. */
export const ENTRY_HOURS_LIMIT = 10_000;

/** Days until an invoice is due, where neither client nor account says otherwise. */
export const DEFAULT_PAYMENT_DAYS = 30;

/** A test account is for trying things out: its keys begin with `bh_test_`, and its documents and webhooks say that they are a test. */
export const ACCOUNT_MODES = ['live', 'test'] as const;

export type AccountMode = (typeof ACCOUNT_MODES)[number];

const accountSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    name: { type: String, required: true },
    /** Never changes: keys, numbers and documents depend on it. */
    mode: { type: String, enum: ACCOUNT_MODES, required: true, default: 'live' },
    email: String,
    company: String,
    address: String,
    tax_id: String,
    bank_details: String,
    legal_name: String,
    /** See party-fields.ts for these and payment_options. */
    legal_id: Object,
    vat_id: String,
    tax_number: String,
    /** Printed in the foot: register court, directors, why there is no tax. */
    legal_note: String,
    electronic_address: Object,
    postal_address: Object,
    phone: String,
    payment_options: { type: [Object], default: undefined },
    logo_url: String,
    brand_color: String,
    default_tax_rate: Number,
    /** Why it charges no tax, printed where category E is. */
    tax_exemption_note: String,
    /** Documents may be dated before the last one that was issued. */
    allow_backdating: Boolean,
    /** IANA name: decides on which calendar day an invoice becomes overdue. */
    time_zone: { type: String, required: true, default: 'UTC' },
    /** BCP 47: the language and number format of printed documents. */
    locale: { type: String, required: true, default: 'en-US' },
    project_statuses: { type: [String], default: undefined },
    /** See number-format.ts. Stays once it was set, also when all of it is the default again: then numbers may have been drawn by others. */
    number_formats: Object,
    /** A rest no larger than this, in major units, is written off with the payment that leaves it. */
    settle_tolerance: Number,
    /** Cancelling an issued invoice draws a credit note over the rest of it. */
    cancel_with_credit_note: Boolean,
    /** Hours of one time entry at most; DEFAULT_ENTRY_HOURS when absent. */
    max_entry_hours: Number,
    /** `YYYY-MM-DD`: time of earlier days is neither logged, changed nor deleted. */
    time_locked_before: String,
    /** Raised by transactions of which only one at a time may add to what the account keeps, see batch-file.ts. */
    lock_version: Number,
    /** Where neither time entry, task, project nor client has one. */
    hourly_rate: Number,
    /** Rates of single people, see hourly-rate.ts. */
    member_rates: Object,
    /** Of new invoices from time. */
    currency: String,
    /** From the day of an invoice that names no due date. */
    payment_days: Number,
    /** See time-rounding.ts. */
    rounding: Object,
    created_at: { type: Date, required: true, default: () => new Date() },
    updated_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'accounts' },
);

export type AccountRecord = InferSchemaType<typeof accountSchema>;

export const Account = model('Account', accountSchema);

/**
 * The account as it is now: what is computed from it or frozen into a document must not come from a remembered profile.
 * @throws AppError 401 when it is gone, like the next request with its key.
 */
export async function readAccount(id: Id, session?: Session): Promise<AccountRecord> {
  const found = await driverOf(Account as never).findOne({ _id: storedId(id) }, session ? { session } : {});
  if (!found) throw unauthorized();
  return found as unknown as AccountRecord;
}

/** How many hours one time entry of the account may have. */
export function maxEntryHours({ max_entry_hours }: Pick<AccountRecord, 'max_entry_hours'>): number {
  return max_entry_hours ?? DEFAULT_ENTRY_HOURS;
}

/** The modes of accounts, by id: the webhook service delivers for all accounts side by side. */
export async function findAccountModes(ids: readonly Id[]): Promise<Map<Id, Pick<AccountRecord, '_id' | 'mode'>>> {
  const accounts = (await driverOf(Account as never)
    .find({ _id: { $in: [...new Set(ids)].map(storedId) } }, { projection: { mode: 1 } })
    .toArray()) as unknown as Pick<AccountRecord, '_id' | 'mode'>[];
  return new Map(accounts.map((account) => [wireId(account._id), account]));
}

/** The account as the API returns it. */
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
  };
}
