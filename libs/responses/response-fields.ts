// Shapes of fields in responses, for the reference and the checks of responses; the views of libs/models make the responses.
import Joi from 'joi';
import { RECIPIENT_STATES } from '../models/messages/message.ts';
import { PAYMENT_OPTION_TYPES } from '../rules/paying/payment-options.ts';
import { REMINDER_MODES } from '../rules/reminders/reminder-steps.ts';
import { TAX_CATEGORIES } from '../rules/taxes/tax-groups.ts';
import { ROUNDING_MODES, ROUNDING_SCOPES } from '../rules/time/time-rounding.ts';
import { exampleId } from './example-ids.ts';

export const id = () => Joi.string().guid().required();
export const timestamp = () => Joi.string().isoDate().required().description('ISO 8601, UTC');
export const calendarDay = () =>
  Joi.string()
    .pattern(/^\d{4}-\d{2}-\d{2}$/)
    .required();
/** A text that is always there, though it may be empty. */
export const words = () => Joi.string().allow('').required();
/** A text that is absent when it was never given. */
export const maybeWords = () => Joi.string().allow('');
export const number = () => Joi.number().required();
export const currencyCode = () => Joi.string().pattern(/^[A-Z]{3}$/);
export const currency = () => currencyCode().required().description('ISO 4217 code');

/** Null for what was not given. */
export const orNull = <Shape extends Joi.Schema>(shape: Shape): Shape => shape.allow(null).required() as Shape;

/** The values that the text of an error contains; null when it has none. */
export const errorParams = (description: string) => orNull(Joi.object().unknown()).description(description);

export const embeddedClient = () =>
  orNull(
    Joi.object({ id: id(), name: words(), email: words(), company_name: maybeWords() }).meta({
      schema: 'ClientSummary',
    }),
  );

export const embeddedProject = () => orNull(Joi.object({ id: id(), name: words() }).meta({ schema: 'ProjectSummary' }));

export const embeddedTask = () => orNull(Joi.object({ id: id(), name: words() }).meta({ schema: 'TaskSummary' }));

export const embeddedInvoice = () =>
  Joi.object({ id: id(), invoice_number: words() }).meta({ schema: 'EmbeddedInvoice' });

/** An invoice that may be a dry run, which has no number. */
export const invoiceSummary = () =>
  Joi.object({ id: id(), invoice_number: orNull(Joi.string()) }).meta({ schema: 'InvoiceSummary' });

const lineItem = Joi.object({
  description: words(),
  qty: words().description('Plain decimal'),
  rate: words().description('Plain decimal'),
  discount: words().description('Percentage, plain decimal'),
  tax_rate: Joi.number().description('This and the next two only if the line was sent with it'),
  tax_category: Joi.string().valid(...TAX_CATEGORIES),
  unit: Joi.string(),
});

export const lineItemsResponse = () => orNull(Joi.array().items(lineItem.meta({ schema: 'LineItem' })));

export const creditLinesResponse = () =>
  orNull(
    Joi.array().items(
      lineItem
        .keys({ line: Joi.number().description('The line of the invoice that it credits, if it was sent with it') })
        .meta({ schema: 'CreditLine' }),
    ),
  );

export const referencesResponse = {
  buyer_reference: orNull(Joi.string()).description("Where it is not the client's own"),
  order_reference: orNull(Joi.string()),
  contract_reference: orNull(Joi.string()),
};

export const taxesResponse = () =>
  Joi.array()
    .required()
    .items(
      Joi.object({
        rate: number().description('Percentage'),
        category: orNull(Joi.string().valid(...TAX_CATEGORIES)).description(
          'Of EN 16931; null at a rate of 0 for which none was given',
        ),
        taxable: number().description('What is taxed, before tax'),
        tax: number(),
        note: orNull(Joi.string()).description('Why there is no tax; printed'),
      }).meta({ schema: 'DocumentTax' }),
    )
    .description('One entry for each rate and category, the highest rate first');

/** Discount and shipping of a whole document. */
export const chargesResponse = {
  discount_amount: number().description('0 without a discount. With tax where prices include it'),
  discount_percent: orNull(Joi.number()).description('Where the discount was given as a percentage'),
  shipping_amount: number().description('0 without shipping. With tax where prices include it'),
  shipping_tax_rate: orNull(Joi.number()).description("Null where it is the document's"),
  shipping_tax_category: orNull(Joi.string().valid(...TAX_CATEGORIES)),
};

export const textsResponse = {
  notes: orNull(Joi.string()).description('Printed below the sum'),
  terms: orNull(Joi.string()).description('Printed below the notes'),
};

/** The state of the last mail of an invoice or a quote. */
export const deliveryResponse = () =>
  orNull(
    Joi.object({
      state: Joi.string()
        .valid(...RECIPIENT_STATES)
        .required()
        .description('The state of its last message; `bounced` or `complained` when that came back from a recipient'),
      last_message_id: id().description('The message, at `/api/v1/messages/{id}`'),
      at: timestamp(),
    }).meta({ schema: 'DocumentDelivery' }),
  ).description('Null when it was never mailed');

/** Added after the fields that were published before it. */
export const roundingAmount = () =>
  number().description(
    'Rounds the total to a step of the currency (`total_rounding` of the account): `amount_due` has it. 0 where nothing is rounded',
  );

export const moneyResponse = {
  amount: number().description('Before tax: the sum of the lines less the discount and with the shipping, or as given'),
  currency: currency(),
  tax_rate: number().description('Percentage, 0 to 100'),
  subtotal: number().description(
    'The sum of the lines before tax, the discount and shipping; the same as `amount` where there is neither',
  ),
  ...chargesResponse,
  tax_amount: number().description('Sum of the taxes, each rounded once'),
  taxes: taxesResponse(),
  prices_include_tax: Joi.boolean().required().description('The sums of the lines contain the tax'),
  total: number().description('`amount` + `tax_amount`'),
  amount_paid: number(),
  amount_due: number(),
};

const maybeDay = () => orNull(Joi.string().pattern(/^\d{4}-\d{2}-\d{2}$/));

/** Response fields of quotes and invoices for their dates. */
export const datesResponse = {
  issue_date: maybeDay().description('Null on a draft that was given none: the day on which it is issued'),
  service_date: maybeDay().description('The day of the work'),
  service_period: orNull(
    Joi.object({ from: calendarDay(), to: calendarDay() }).meta({ schema: 'ServicePeriod' }),
  ).description('The first and the last day of the work'),
};

export const memberRatesResponse = () =>
  orNull(
    Joi.array().items(Joi.object({ member: words(), rate: number() }).meta({ schema: 'MemberRateResponse' })),
  ).description('Rates of single people; each counts before the `hourly_rate` beside it');

export const earlyPaymentResponse = () =>
  orNull(
    Joi.array().items(
      Joi.object({
        days: number().description('After the issue date; money of the last day is in time'),
        percent: number().description('Of the total with tax'),
      }).meta({ schema: 'EarlyPaymentDiscount' }),
    ),
  ).description('Discounts for early payment: a percentage of the total, for money that comes within so many days');

export const reminderRuleResponse = () =>
  orNull(
    Joi.object({
      mode: Joi.string()
        .valid(...REMINDER_MODES)
        .required()
        .description('`off` stops reminders for good'),
      paused_until: orNull(Joi.string()).description('The day on which reminders go on'),
    }).meta({ schema: 'ReminderRule' }),
  ).description('Whether reminders go out by themselves');

export const roundingResponse = () =>
  orNull(
    Joi.object({
      minutes: number(),
      mode: Joi.string()
        .valid(...ROUNDING_MODES)
        .required(),
      scope: Joi.string()
        .valid(...ROUNDING_SCOPES)
        .required(),
      minimum: number(),
    }).meta({ schema: 'Rounding' }),
  );

export const legalIdResponse = () =>
  Joi.object({ value: words(), scheme: orNull(Joi.string()).description('Of ISO 6523') }).meta({ schema: 'LegalId' });

export const electronicAddressResponse = () =>
  Joi.object({ scheme: words().description('Of the EAS list'), value: words() }).meta({ schema: 'ElectronicAddress' });

export const postalAddressResponse = () =>
  Joi.object({
    line1: orNull(Joi.string()),
    line2: orNull(Joi.string()),
    line3: orNull(Joi.string()),
    postal_code: orNull(Joi.string()),
    city: orNull(Joi.string()),
    region: orNull(Joi.string()),
    country: words().description('ISO 3166-1'),
  }).meta({ schema: 'PostalAddress' });

export const paymentOptionsResponse = () =>
  Joi.array().items(
    Joi.object({
      type: Joi.string()
        .valid(...PAYMENT_OPTION_TYPES)
        .required(),
      holder: orNull(Joi.string()),
      iban: orNull(Joi.string()),
      bic: orNull(Joi.string()),
      text: orNull(Joi.string()),
      qr_iban: orNull(Joi.string()).description('Of `swiss_qr`, in place of `iban`'),
      address: orNull(
        Joi.object({
          line1: orNull(Joi.string()).description('Street and number'),
          postal_code: words(),
          city: words(),
          country: words().description('ISO 3166-1'),
        }).meta({ schema: 'SwissAddress' }),
      ).description('Of `swiss_qr`: the address of the holder'),
      vpa: orNull(Joi.string()).description('Of `upi`: the virtual payment address'),
      name: orNull(Joi.string()).description('Of `upi`: the payee'),
      label: orNull(Joi.string()).description('Of `link`: its words'),
      url: orNull(Joi.string()).description('Of `link`: a template'),
    }).meta({ schema: 'PaymentOption' }),
  );

export const exampleRounding = { minutes: 15, mode: 'up', scope: 'day', minimum: 0 };

export const exampleTime = '2026-11-02T09:30:00.000Z';

export const exampleClient = {
  id: exampleId.clients,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  company_name: 'Analytical Engines',
};

export const exampleProject = { id: exampleId.projects, name: 'Difference engine' };
