// Response shapes of a received e-invoice. The numbers are the business terms of EN 16931.
import Joi from 'joi';
import type { ReadEInvoice } from '#libs/e-invoice/read/read-e-invoice.ts';
import type {
  ReceivedAdjustment,
  ReceivedAttachment,
  ReceivedFile,
  ReceivedInvoice,
  ReceivedLine,
  ReceivedParty,
  ReceivedPayment,
  ReceivedTax,
  ReceivedTotals,
} from '#libs/e-invoice/read/received-invoice.ts';
import { orNull } from '#libs/responses/response-fields.ts';

const text = (description: string) => orNull(Joi.string()).description(description);
const decimal = (description: string) => text(`${description}; a decimal as it was written`);
const taxed = () => ({ category: text('BT-151, BT-118, BT-95, BT-102'), rate: decimal('The percentage of tax') });
const period = Joi.object({ from: text('First day'), to: text('Last day') }).meta({ schema: 'ReceivedPeriod' });
const identifier = (description: string) =>
  orNull(
    Joi.object({
      value: Joi.string().required().description('The number'),
      scheme: text('What it is a number of'),
    }).meta({
      schema: 'ReceivedIdentifier',
    }),
  ).description(description);

const party = (description: string) =>
  Joi.object<ReceivedParty, true>({
    name: text('BT-27, BT-44'),
    trading_name: text('BT-28, BT-45'),
    id: text('BT-29, BT-46'),
    legal_id: identifier('BT-30, BT-47'),
    vat_id: text('BT-31, BT-48'),
    tax_number: text('BT-32'),
    legal_note: text('BT-33'),
    electronic_address: identifier('BT-34, BT-49'),
    address: orNull(
      Joi.object({
        line1: text('BT-35, BT-50'),
        line2: text('BT-36, BT-51'),
        line3: text('BT-162, BT-163'),
        postal_code: text('BT-38, BT-53'),
        city: text('BT-37, BT-52'),
        region: text('BT-39, BT-54'),
        country: text('BT-40, BT-55'),
      }).meta({ schema: 'ReceivedAddress' }),
    ).description('BG-5, BG-8'),
    contact: Joi.object({ name: text('BT-41, BT-56'), phone: text('BT-42, BT-57'), email: text('BT-43, BT-58') })
      .required()
      .description('BG-6, BG-9')
      .meta({ schema: 'ReceivedContact' }),
  })
    .required()
    .description(description)
    .meta({ schema: 'ReceivedParty' });

const adjustment = Joi.object<ReceivedAdjustment, true>({
  is_charge: Joi.boolean().required().description('A charge, and no allowance'),
  amount: decimal('BT-92, BT-99, BT-136, BT-141'),
  base: decimal('The amount that the percentage is of'),
  percent: decimal('The percentage'),
  reason: text('Why, in words'),
  code: text('Why, as a code of UNTDID 5189 or 7161'),
  ...taxed(),
}).meta({ schema: 'ReceivedAdjustment' });

const line = Joi.object<ReceivedLine, true>({
  id: text('BT-126'),
  name: text('BT-153'),
  description: text('BT-154'),
  quantity: decimal('BT-129'),
  unit: text('BT-130, a code of UN/ECE Recommendation 20'),
  price: decimal('BT-146, without tax'),
  price_quantity: decimal('BT-149, the quantity that the price is of; 1 when null'),
  net: decimal('BT-131'),
  adjustments: Joi.array().items(adjustment).required().description('BG-27, BG-28'),
  ...taxed(),
}).meta({ schema: 'ReceivedLine' });

const tax = Joi.object<ReceivedTax, true>({
  taxable: decimal('BT-116'),
  tax: decimal('BT-117'),
  reason: text('BT-120, why there is no tax'),
  code: text('BT-121'),
  ...taxed(),
}).meta({ schema: 'ReceivedTax' });

const totals = Joi.object<ReceivedTotals, true>({
  lines: decimal('BT-106'),
  allowances: decimal('BT-107'),
  charges: decimal('BT-108'),
  net: decimal('BT-109'),
  tax: decimal('BT-110'),
  gross: decimal('BT-112'),
  paid: decimal('BT-113'),
  rounding: decimal('BT-114'),
  due: decimal('BT-115'),
})
  .required()
  .description('The totals as the file has them. They are not recomputed')
  .meta({ schema: 'ReceivedTotals' });

const payment = Joi.object<ReceivedPayment, true>({
  means: text('BT-81, a code of UNTDID 4461'),
  reference: text('BT-83'),
  iban: text('BT-84; its check digits are not checked'),
  holder: text('BT-85'),
  bic: text('BT-86'),
}).meta({ schema: 'ReceivedPayment' });

const attachment = Joi.object<ReceivedAttachment, true>({
  id: text('BT-122'),
  description: text('BT-123'),
  file_name: text('BT-125, as the sender named it: a name to show, never a path to write to'),
  media_type: text('BT-125, as the sender says it'),
  size_bytes: orNull(Joi.number().integer()).description('Bytes of the file in it'),
  url: text('BT-124. It is not fetched'),
}).meta({ schema: 'ReceivedAttachment' });

const file = Joi.object<ReceivedFile, true>({
  file_name: text('A name to show, never a path to write to'),
  description: text('What the sender says about it'),
  media_type: text('As the sender says it'),
  size_bytes: orNull(Joi.number().integer()).description('Bytes, as the sender says it'),
  relationship: text('How it relates to the pages, such as `Alternative`'),
  is_invoice: Joi.boolean().required().description('True of the file whose fields are these'),
}).meta({ schema: 'ReceivedFile' });

const list = (items: Joi.Schema, description: string) => Joi.array().items(items).required().description(description);

export const receivedResponse = Joi.object<ReceivedInvoice & Pick<ReadEInvoice, 'syntax' | 'files'>, true>({
  syntax: Joi.string().valid('ubl', 'cii').required().description('The syntax that it is written in'),
  specification: text('BT-24, the specification that it claims to follow'),
  process: text('BT-23'),
  number: text('BT-1'),
  issue_date: text('BT-2'),
  type_code: text('BT-3, such as 380 for an invoice and 381 for a credit note'),
  currency_code: text('BT-5'),
  due_date: text('BT-9'),
  buyer_reference: text('BT-10'),
  project_reference: text('BT-11'),
  contract_reference: text('BT-12'),
  order_reference: text('BT-13'),
  payment_terms: text('BT-20'),
  notes: list(Joi.string(), 'BT-22'),
  preceding: list(
    Joi.object({ number: text('BT-25'), issue_date: text('BT-26') }).meta({ schema: 'ReceivedPreceding' }),
    'BG-3, the invoices that it corrects or credits',
  ),
  seller: party('BG-4'),
  buyer: party('BG-7'),
  service_date: text('BT-72'),
  delivery_country: text('BT-80'),
  service_period: orNull(period).description('BG-14'),
  payments: list(payment, 'BG-16'),
  adjustments: list(adjustment, 'BG-20, BG-21'),
  lines: list(line, 'BG-25'),
  taxes: list(tax, 'BG-23'),
  totals,
  attachments: list(attachment, 'BG-24. Only listed: nothing is unpacked, opened or fetched'),
  files: list(file, 'The files in the PDF; empty for XML. Only the invoice is unpacked, and none is opened'),
}).id('ReceivedEInvoice');
