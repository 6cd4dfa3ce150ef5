// Response shapes of the account.
import Joi from 'joi';
import { INVOICE_FORMAT_NAMES } from '#libs/e-invoice/formats.ts';
import type { accountView } from '#libs/models/accounts/account.ts';
import { ACCOUNT_MODES } from '#libs/models/accounts/account.ts';
import {
  currencyCode,
  earlyPaymentResponse,
  electronicAddressResponse,
  exampleRounding,
  exampleTime,
  id,
  legalIdResponse,
  memberRatesResponse,
  number,
  orNull,
  paymentOptionsResponse,
  postalAddressResponse,
  roundingResponse,
  timestamp,
  words,
} from '#libs/responses/response-fields.ts';
import { REMINDER_KINDS } from '#libs/rules/reminders/reminder-steps.ts';

const exampleAccount = '019a1f00-0000-7000-8000-000000000acc';

const numberFormatResponse = () =>
  Joi.object({
    prefix: words(),
    padding: Joi.number().integer().required(),
    start: Joi.number().integer().required(),
    restart: Joi.string().valid('never', 'yearly').required(),
  })
    .required()
    .meta({ schema: 'NumberFormat' });

export const accountResponse = Joi.object<ReturnType<typeof accountView>, true>({
  id: id(),
  name: words(),
  mode: Joi.string()
    .valid(...ACCOUNT_MODES)
    .required()
    .description(
      'Set when the account is made, never changed. Keys of a test account begin with `bh_test_`; its documents and webhooks say that they are a test',
    ),
  email: orNull(Joi.string()),
  company: orNull(Joi.string()),
  address: orNull(Joi.string()),
  tax_id: orNull(Joi.string()),
  bank_details: orNull(Joi.string()),
  legal_name: orNull(Joi.string()),
  legal_id: orNull(legalIdResponse()),
  vat_id: orNull(Joi.string()),
  tax_number: orNull(Joi.string()),
  legal_note: orNull(Joi.string()),
  electronic_address: orNull(electronicAddressResponse()),
  postal_address: orNull(postalAddressResponse()),
  phone: orNull(Joi.string()),
  payment_options: orNull(paymentOptionsResponse()),
  logo_url: orNull(Joi.string()),
  brand_color: orNull(Joi.string()),
  default_tax_rate: orNull(Joi.number()),
  tax_exemption_note: orNull(Joi.string()),
  allow_backdating: Joi.boolean().required(),
  time_zone: words(),
  locale: words(),
  max_entry_hours: number().description('Hours that one time entry may have at most'),
  time_locked_before: orNull(Joi.string()).description('Time of earlier days is locked'),
  hourly_rate: orNull(Joi.number()),
  member_rates: memberRatesResponse(),
  currency: orNull(currencyCode()),
  payment_days: number(),
  rounding: roundingResponse(),
  settle_tolerance: number().description('In major units; 0 writes nothing off'),
  cancel_with_credit_note: Joi.boolean()
    .required()
    .description('Cancelling an issued invoice also draws a credit note over what is left of it'),
  number_formats: Joi.object({
    credit_note: numberFormatResponse(),
    invoice: numberFormatResponse(),
    payment: numberFormatResponse(),
    quote: numberFormatResponse(),
  }).required(),
  project_statuses: Joi.array().items(Joi.string()).required(),
  created_at: timestamp(),
  updated_at: timestamp(),
  total_rounding: orNull(Joi.number()).description('The step in major units to which totals are rounded'),
  strict_invoices: Joi.boolean()
    .required()
    .description('An invoice that lacks what the law wants is not issued, instead of being issued with `warnings`'),
  require_client_email: Joi.boolean().required().description('Every new client needs an `email`'),
  e_invoice_format: orNull(Joi.string().valid(...INVOICE_FORMAT_NAMES)).description(
    'The format in which every invoice must be expressible, unless its client has another',
  ),
  e_invoice_pdf: Joi.boolean().required().description('The printed PDF stands in e-invoices in XML'),
  mail: Joi.object({
    from_name: orNull(Joi.string()).description('Null is `company`, or `name`'),
    reply_to: orNull(Joi.string()).description('Null is `email` of the account'),
    bcc: orNull(Joi.string()).description('Gets a blind copy of every mail'),
  })
    .required()
    .meta({ schema: 'MailSettings' })
    .description('Settings of mail'),
  early_payment_discounts: earlyPaymentResponse(),
  receipts: Joi.boolean().required().description('The receipt of each payment is mailed by itself'),
  reminders: orNull(
    Joi.array().items(
      Joi.object({
        days: number().description('From the due date; below 0 before it'),
        template: Joi.string()
          .valid(...REMINDER_KINDS)
          .required()
          .description('The words of the mail'),
      }).meta({ schema: 'ReminderStep' }),
    ),
  ).description('The reminders that go out by themselves about an invoice of which something is due'),
  remind_at: words().description('The time of day at which they leave, in `time_zone`'),
})
  .id('Account')
  .example({
    id: exampleAccount,
    name: 'Studio North',
    mode: 'live',
    email: 'hello@north.example',
    company: null,
    address: null,
    tax_id: null,
    bank_details: null,
    legal_name: 'Studio North GmbH',
    legal_id: { value: 'HRB 1234 Kiel', scheme: null },
    vat_id: 'DE136695976',
    tax_number: null,
    legal_note: 'Managing director: Ada North',
    electronic_address: { scheme: 'EM', value: 'invoices@north.example' },
    postal_address: {
      line1: 'Hafenstraße 12',
      line2: null,
      line3: null,
      postal_code: '24103',
      city: 'Kiel',
      region: null,
      country: 'DE',
    },
    phone: '+49 431 1234567',
    payment_options: [
      {
        type: 'bank_transfer',
        holder: null,
        iban: 'DE89370400440532013000',
        bic: 'COBADEFFXXX',
        text: null,
        qr_iban: null,
        address: null,
        vpa: null,
        name: null,
        label: null,
        url: null,
      },
    ],
    logo_url: null,
    brand_color: '#0b5fb0',
    default_tax_rate: 19,
    tax_exemption_note: null,
    allow_backdating: false,
    time_zone: 'Europe/Berlin',
    locale: 'de-DE',
    max_entry_hours: 24,
    time_locked_before: '2026-10-01',
    hourly_rate: 90,
    member_rates: [{ member: 'Ada Lovelace', rate: 120 }],
    currency: 'EUR',
    payment_days: 30,
    rounding: exampleRounding,
    settle_tolerance: 0.1,
    total_rounding: null,
    cancel_with_credit_note: false,
    strict_invoices: false,
    require_client_email: true,
    e_invoice_format: 'xrechnung-ubl',
    e_invoice_pdf: false,
    mail: { from_name: null, reply_to: null, bcc: null },
    early_payment_discounts: null,
    receipts: false,
    reminders: [
      { days: 3, template: 'reminder_1' },
      { days: 14, template: 'reminder_2' },
    ],
    remind_at: '09:00',
    number_formats: {
      credit_note: { prefix: 'CRN-', padding: 4, start: 1, restart: 'never' },
      invoice: { prefix: '{year}-', padding: 4, start: 1, restart: 'yearly' },
      payment: { prefix: 'PAY-', padding: 4, start: 1, restart: 'never' },
      quote: { prefix: 'QUO-', padding: 4, start: 1, restart: 'never' },
    },
    project_statuses: ['In Progress', 'Awaiting Approval', 'Complete'],
    created_at: exampleTime,
    updated_at: exampleTime,
  });
