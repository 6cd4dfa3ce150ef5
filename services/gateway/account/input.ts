// Input of the account: the issuer's profile that documents are printed from.
import Joi from 'joi';
import { type FormatName, INVOICE_FORMAT_NAMES } from '#libs/e-invoice/formats.ts';
import type { PostalAddress } from '#libs/identifiers/postal-address.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { currency, day, line, name, text } from '#libs/input/kinds.ts';
import {
  DEFAULT_ENTRY_HOURS,
  DEFAULT_PAYMENT_DAYS,
  ENTRY_HOURS_LIMIT,
  type MailSettings,
} from '#libs/models/accounts/account.ts';
import type { ElectronicAddress, LegalId } from '#libs/models/accounts/party-fields.ts';
import { emailForm, knownLocale, knownZone, LOCALE_LONGEST } from '#libs/profile-forms.ts';
import type { NumberFormat } from '#libs/rules/documents/number-format.ts';
import type { NumberKind } from '#libs/rules/documents/number-kinds.ts';
import type { EarlyPaymentDiscount } from '#libs/rules/money/early-payment.ts';
import type { PaymentOption } from '#libs/rules/paying/payment-options.ts';
import type { ReminderStep } from '#libs/rules/reminders/reminder-steps.ts';
import type { MemberRate } from '#libs/rules/time/hourly-rate.ts';
import type { TimeRounding } from '#libs/rules/time/time-rounding.ts';
import { sameName } from '#libs/search-text.ts';
import {
  type AppliesRate,
  appliesRate,
  applyToInput,
  earlyPaymentInput,
  hourlyRateInput,
  memberRatesInput,
  paymentDaysInput,
  roundingInput,
} from '../fields/billing-input.ts';
import { HOURS_FORMS, hours } from '../fields/hours-input.ts';
import { percentage } from '../fields/money-input.ts';
import { number } from '../fields/number-input.ts';
import { electronicAddressInput, legalIdInput, postalAddressInput, vatIdInput } from '../fields/party-input.ts';
import { paymentOptionsInput } from '../fields/payment-option-input.ts';
import { remindAtInput, reminderStepsInput } from '../fields/reminder-input.ts';
import { imageUrl } from '../fields/url-input.ts';

export interface AccountChanges extends AppliesRate {
  name?: string;
  email?: string | null;
  company?: string | null;
  address?: string | null;
  tax_id?: string | null;
  bank_details?: string | null;
  legal_name?: string | null;
  legal_id?: LegalId | null;
  vat_id?: string | null;
  tax_number?: string | null;
  legal_note?: string | null;
  electronic_address?: ElectronicAddress | null;
  postal_address?: PostalAddress | null;
  phone?: string | null;
  payment_options?: PaymentOption[] | null;
  logo_url?: string | null;
  brand_color?: string | null;
  default_tax_rate?: number | null;
  tax_exemption_note?: string | null;
  allow_backdating?: boolean | null;
  time_zone?: string | null;
  locale?: string | null;
  max_entry_hours?: number | null;
  time_locked_before?: string | null;
  settle_tolerance?: number | null;
  total_rounding?: number | null;
  cancel_with_credit_note?: boolean | null;
  strict_invoices?: boolean | null;
  require_client_email?: boolean | null;
  e_invoice_format?: FormatName | null;
  e_invoice_pdf?: boolean | null;
  early_payment_discounts?: EarlyPaymentDiscount[] | null;
  project_statuses?: string[] | null;
  hourly_rate?: number | null;
  member_rates?: MemberRate[] | null;
  currency?: string | null;
  payment_days?: number | null;
  rounding?: TimeRounding | null;
  number_formats?: Partial<Record<NumberKind, NumberFormat | null>> | null;
  mail?: MailSettings | null;
  receipts?: boolean | null;
  reminders?: ReminderStep[] | null;
  remind_at?: string | null;
}

/** Characters of a printed note. */
const NOTE_LONGEST = 500;
const STATUSES_MAX = 50;
const FROM_NAME_LONGEST = 100;
/** In major units. A larger rest is money to ask for, and not a difference of rounding. */
const TOLERANCE_MAX = 1;
const ROUNDING_MAX = 100;
const PREFIX_LONGEST = 40;
/** Letters and digits, what numbers are usually divided by, and the two that stand for a part of the date. */
const PREFIX = /^(?:[A-Za-z0-9 _./#-]|\{year\}|\{month\})*$/;
const DIGITS_MAX = 12;
const START_MAX = 999_999_999;
/** A small logo as a data URI; the body's own limit is not far above. */
const LOGO_LONGEST = 200_000;
/** The form of a colour. The expression has no flag, because the reference cannot show one. */
const COLOR = /^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/;

const FORMAT_SCHEMAS = {
  'CRN-': 'CreditNoteNumberFormatInput',
  'INV-': 'InvoiceNumberFormatInput',
  'PAY-': 'PaymentNumberFormatInput',
  'QUO-': 'QuoteNumberFormatInput',
};

export const accountChanges = Joi.object<AccountChanges, true>({
  name: name(),
  email: emailForm(line()).allow(null, ''),
  company: line().allow(null, ''),
  address: text().allow(null, ''),
  tax_id: line()
    .allow(null, '')
    .description('A number of either kind, printed as it is; a reverse charge takes it in place of a `vat_id`'),
  bank_details: text().allow(null, ''),
  legal_name: line().allow(null, '').description('As the register has it, where it is not `company`'),
  legal_id: legalIdInput(),
  vat_id: vatIdInput(),
  tax_number: line().allow(null, '').description('Of the tax office, where it is not the VAT id'),
  legal_note: text()
    .max(NOTE_LONGEST)
    .allow(null, '')
    .description('What the law wants on letters: register court, directors, why there is no tax'),
  electronic_address: electronicAddressInput(),
  postal_address: postalAddressInput(),
  phone: line().allow(null, ''),
  payment_options: paymentOptionsInput(),
  logo_url: imageUrl(LOGO_LONGEST).allow(null, ''),
  brand_color: Joi.string()
    .pattern(COLOR)
    .allow(null, '')
    .messages({ 'string.pattern.base': '{{#label}} must be a hex colour such as #1a2b3c' }),
  default_tax_rate: percentage().allow(null).description('Where a quote or an invoice names no tax_rate'),
  tax_exemption_note: text()
    .max(NOTE_LONGEST)
    .allow(null, '')
    .description(
      'Why there is no tax, such as a small business rule. Once set, new documents at rate 0 have category E with this note, unless the client or ' +
        'the line has another category',
    ),
  allow_backdating: Joi.boolean()
    .allow(null)
    .description('Whether `issue_date` may be before the last invoice or quote that was issued; false unless set'),
  time_zone: name()
    .custom(zoneInput)
    .allow(null)
    .description('IANA name; decides on which day an invoice is overdue. UTC when null'),
  locale: name()
    .max(LOCALE_LONGEST)
    .custom(localeInput)
    .allow(null)
    .description('BCP 47; language and number format of documents. en-US when null'),
  max_entry_hours: hours()
    .positive()
    .max(ENTRY_HOURS_LIMIT)
    .allow(null)
    .description(`Hours that one time entry may have at most; ${DEFAULT_ENTRY_HOURS} when null. ${HOURS_FORMS}`),
  time_locked_before: day()
    .allow(null)
    .description('Time of earlier days can be billed, and neither logged, changed nor deleted: 409'),
  hourly_rate: hourlyRateInput().description('Of time for which neither entry, task, project nor client has one'),
  member_rates: memberRatesInput(),
  apply_to: applyToInput('hourly_rate'),
  currency: currency()
    .allow(null)
    .description('Of new documents and payments, where the client has none; USD when null'),
  payment_days: paymentDaysInput().description(
    `Until an invoice is due that names no due date; ${DEFAULT_PAYMENT_DAYS} when null`,
  ),
  rounding: roundingInput().description('Of time, where neither project nor client has a rule'),
  settle_tolerance: number()
    .min(0)
    .max(TOLERANCE_MAX)
    .allow(null)
    .description(
      'A rest of an invoice no larger than this is written off with the payment that leaves it; 0 when null',
    ),
  cancel_with_credit_note: Joi.boolean()
    .allow(null)
    .description(
      'Whether cancelling an issued invoice also draws a credit note over what is left of it; false unless set',
    ),
  project_statuses: Joi.array()
    .items(name())
    .min(1)
    .max(STATUSES_MAX)
    .unique(isSameStatus)
    .allow(null)
    .description('In Progress, Awaiting Approval and Complete when null. Two that differ in case only are one: 400'),
  number_formats: Joi.object({
    credit_note: numberFormatInput('CRN-').allow(null),
    invoice: numberFormatInput('INV-').allow(null),
    payment: numberFormatInput('PAY-').allow(null),
    quote: numberFormatInput('QUO-').allow(null),
  })
    .min(1)
    .allow(null)
    .description(
      'How new numbers are written; CRN-0001, INV-0001, PAY-0001 and QUO-0001 when null. Numbers that were drawn stay as ' +
        'they are',
    ),
  total_rounding: number()
    .greater(0)
    .max(ROUNDING_MAX)
    .allow(null)
    .description(
      "The step in major units, such as 0.05, to which totals with tax are rounded: of documents in the account's currency, from now on. Whole steps of its smallest unit",
    ),
  strict_invoices: Joi.boolean()
    .allow(null)
    .description(
      'Whether an invoice that lacks what the law of the country of `postal_address` wants is 409 instead of being issued with `warnings`; false unless set',
    ),
  require_client_email: Joi.boolean()
    .allow(null)
    .description('With false, a client may have no `email`, as those of a time export; true unless set'),
  early_payment_discounts: earlyPaymentInput().description(
    'Of new invoices whose client has none: discounts for early payment, such as `[{ "days": 14, "percent": 2 }]`',
  ),
  e_invoice_format: Joi.string()
    .valid(...INVOICE_FORMAT_NAMES)
    .allow(null)
    .description(
      'The format of e-invoices that clients without one of their own need: an invoice that cannot be expressed in it is not issued (409 with everything that is missing), and it is the `format` of an e-invoice that names none',
    ),
  e_invoice_pdf: Joi.boolean()
    .allow(null)
    .description(
      'Whether the printed PDF stands in e-invoices in XML as a supporting document (BG-24), where the client has no wish of its own; false unless set',
    ),
  mail: Joi.object<MailSettings>({
    from_name: line()
      .max(FROM_NAME_LONGEST)
      .allow(null, '')
      .description('The name beside the address of the sender; `company`, or `name`, unless given'),
    reply_to: emailForm(line())
      .allow(null, '')
      .description('The address for replies; `email` of the account unless given'),
    bcc: emailForm(line()).allow(null, '').description('Gets a blind copy of every mail'),
  })
    .min(1)
    .allow(null)
    .meta({ schema: 'MailSettingsInput' })
    .description('Settings of mail; replaced as a whole'),
  receipts: Joi.boolean()
    .allow(null)
    .description('Whether the receipt of each payment is mailed to its client by itself; false unless set'),
  reminders: reminderStepsInput(),
  remind_at: remindAtInput(),
})
  .custom(appliesRate)
  .example({ name: 'Studio North', brand_color: '#0b5fb0', time_zone: 'Europe/Berlin' });

function numberFormatInput(prefix: keyof typeof FORMAT_SCHEMAS) {
  return Joi.object<NumberFormat>({
    prefix: line()
      .max(PREFIX_LONGEST)
      .pattern(PREFIX)
      .allow('')
      .default(prefix)
      .description('Before the digits; `{year}` and `{month}` stand for those of the document')
      .messages({
        'string.pattern.base':
          '{{#label}} must hold letters, digits, - _ . / # and blanks, and year or month in braces',
      }),
    padding: Joi.number().integer().min(1).max(DIGITS_MAX).default(4).description('Digits at least'),
    start: Joi.number().integer().min(1).max(START_MAX).default(1).description('The first number of a sequence'),
    restart: Joi.string()
      .valid('never', 'yearly')
      .default('never')
      .description('With yearly, every year has a sequence of its own; the prefix must hold `{year}`'),
  })
    .custom((format: NumberFormat, helpers) =>
      format.restart === 'yearly' && !format.prefix.includes('{year}')
        ? refuse(
            helpers,
            'prefix_without_year',
            '{{#label}}.prefix must hold the year in braces when numbers restart yearly',
          )
        : format,
    )
    .meta({ schema: FORMAT_SCHEMAS[prefix] });
}

/** True when two statuses have the same name. joi also calls it with items that are not texts, and rejects those itself. */
function isSameStatus(one: unknown, other: unknown): boolean {
  return typeof one === 'string' && typeof other === 'string' && sameName(one) === sameName(other);
}

function zoneInput(zone: string, helpers: Joi.CustomHelpers) {
  return (
    knownZone(zone) ??
    refuse(helpers, 'invalid_time_zone', '{{#label}} must be an IANA time zone such as Europe/Berlin')
  );
}

function localeInput(locale: string, helpers: Joi.CustomHelpers) {
  return knownLocale(locale) ?? refuse(helpers, 'invalid_locale', '{{#label}} must be a language tag such as en-US');
}
