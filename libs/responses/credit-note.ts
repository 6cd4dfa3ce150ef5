// Response shapes of credit notes.
import Joi from 'joi';
import type { creditNoteView } from '../models/billing/credit-note.ts';
import { CREDIT_REASONS } from '../rules/credits/credit-reasons.ts';
import { exampleId } from './example-ids.ts';
import { refundShape } from './refund.ts';
import {
  calendarDay,
  creditLinesResponse,
  currency,
  embeddedClient,
  embeddedInvoice,
  exampleClient,
  exampleTime,
  id,
  number,
  orNull,
  referencesResponse,
  taxesResponse,
  timestamp,
  words,
} from './response-fields.ts';

const allocation = Joi.object({
  id: id(),
  invoice: embeddedInvoice().required(),
  amount: number(),
  date: calendarDay(),
  released_on: orNull(Joi.string()).description('When it became credit again; the invoice counts it no more'),
}).meta({ schema: 'CreditAllocation' });

const idsResponse = () => Joi.array().items(id()).required();

const refund = Joi.object(refundShape).meta({ schema: 'CreditRefund' });

export const creditNoteResponse = Joi.object<ReturnType<typeof creditNoteView>, true>({
  id: id(),
  credit_note_number: orNull(Joi.string()).description('Null in a dry run, which draws none'),
  invoice: Joi.object({ id: id(), invoice_number: words(), issued_on: calendarDay() })
    .meta({ schema: 'CreditedInvoice' })
    .required()
    .description('The invoice that it corrects'),
  client: embeddedClient().description('As on the invoice'),
  ...referencesResponse,
  currency: currency(),
  reason: Joi.string()
    .valid(...CREDIT_REASONS)
    .required(),
  description: orNull(Joi.string()),
  line_items: creditLinesResponse(),
  discount_amount: number().description('Its share of the discount of the invoice'),
  shipping_amount: number().description('What it credits of the shipping'),
  amount: number().description('Before tax. Amounts are positive here; the PDF prints them with a minus'),
  tax_rate: number().description('Percentage, 0 to 100'),
  tax_amount: number().description('Sum of the taxes'),
  taxes: taxesResponse(),
  prices_include_tax: Joi.boolean().required().description('The sums of the lines contain the tax, as on the invoice'),
  total: number().description('`amount` + `tax_amount`: all that it is worth, but for `rounding_amount`'),
  applied_to_invoice: number().description('Of `total`: what it took off the invoice that it corrects'),
  allocations: Joi.array()
    .items(allocation)
    .required()
    .description('The part on its own invoice, and what it pays of others'),
  refunded: number(),
  refunds: Joi.array().items(refund).required(),
  unallocated: number().description('What is left of it: credit of the client'),
  issued_on: calendarDay(),
  created_at: timestamp(),
  updated_at: timestamp(),
  time_entry_ids: idsResponse().description('The time entries that it named'),
  expense_ids: idsResponse().description('The expenses that it named'),
  rounding_amount: number().description('Its part of the rounding of the invoice; the last credit note takes the rest'),
})
  .id('CreditNote')
  .example({
    id: exampleId['credit-notes'],
    credit_note_number: 'CRN-0003',
    invoice: { id: exampleId.invoices, invoice_number: 'INV-0042', issued_on: '2026-11-02' },
    client: exampleClient,
    buyer_reference: null,
    order_reference: '4500012345',
    contract_reference: null,
    currency: 'EUR',
    reason: 'cancellation',
    description: null,
    line_items: [{ description: 'Drawings', qty: '12', rate: '95', discount: '0' }],
    discount_amount: 0,
    shipping_amount: 0,
    amount: 1140,
    tax_rate: 19,
    tax_amount: 216.6,
    taxes: [{ rate: 19, category: 'S', taxable: 1140, tax: 216.6, note: null }],
    prices_include_tax: false,
    total: 1356.6,
    rounding_amount: 0,
    applied_to_invoice: 600,
    allocations: [
      {
        id: '019a1f00-0000-7000-8000-0000000a110c',
        invoice: { id: exampleId.invoices, invoice_number: 'INV-0042' },
        amount: 600,
        date: '2026-11-20',
        released_on: null,
      },
    ],
    refunded: 0,
    refunds: [],
    unallocated: 756.6,
    issued_on: '2026-11-20',
    time_entry_ids: [],
    expense_ids: [],
    created_at: exampleTime,
    updated_at: exampleTime,
  });
