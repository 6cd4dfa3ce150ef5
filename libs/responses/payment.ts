// Response shapes of payments.
import Joi from 'joi';
import { PAYMENT_SOURCES, PAYMENT_STATUSES } from '../models/billing/payment.ts';
import { INVOICE_STATUSES } from '../rules/documents/invoice-states.ts';
import { exampleId } from './example-ids.ts';
import { paymentMethod, refundShape } from './refund.ts';
import {
  calendarDay,
  currency,
  embeddedClient,
  embeddedInvoice,
  exampleClient,
  exampleTime,
  id,
  number,
  orNull,
  timestamp,
  words,
} from './response-fields.ts';

const EXAMPLE_ALLOCATION = '019a1f00-0000-7000-8000-0000000a110c';

const allocation = Joi.object({
  id: id(),
  invoice: embeddedInvoice().required(),
  amount: number(),
  refunded: number().description('Of `amount`: what went back to the client'),
  date: calendarDay(),
  released_on: orNull(Joi.string()).description('When it became credit again; the invoice counts it no more'),
}).meta({ schema: 'Allocation' });

const refund = Joi.object({
  ...refundShape,
  invoice: embeddedInvoice().allow(null).required().description('Null for one from the credit'),
}).meta({ schema: 'Refund' });

export const paymentResponse = Joi.object({
  id: id(),
  payment_number: orNull(Joi.string()).description("The receipt's number. Null in a dry run, which draws none"),
  client: embeddedClient(),
  amount: number(),
  currency: currency(),
  date: calendarDay(),
  method: paymentMethod(),
  reference: orNull(Joi.string()),
  external_id: orNull(Joi.string()),
  note: orNull(Joi.string()),
  source: Joi.string()
    .valid(...PAYMENT_SOURCES)
    .required(),
  status: Joi.string()
    .valid(...PAYMENT_STATUSES)
    .required(),
  void_reason: orNull(Joi.string()),
  voided_on: orNull(Joi.string()),
  allocations: Joi.array().items(allocation).required(),
  refunds: Joi.array().items(refund).required(),
  unallocated: number().description('What is left of it: credit of the client'),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('Payment')
  .example({
    id: exampleId.payments,
    payment_number: 'PAY-0007',
    client: exampleClient,
    amount: 1400,
    currency: 'EUR',
    date: '2026-11-20',
    method: 'bank_transfer',
    reference: 'RF18 5390 0754 7034',
    external_id: null,
    note: null,
    source: 'api',
    status: 'Received',
    void_reason: null,
    voided_on: null,
    allocations: [
      {
        id: EXAMPLE_ALLOCATION,
        invoice: { id: exampleId.invoices, invoice_number: 'INV-0042' },
        amount: 1356.6,
        refunded: 0,
        date: '2026-11-20',
        released_on: null,
      },
    ],
    refunds: [],
    unallocated: 43.4,
    created_at: exampleTime,
    updated_at: exampleTime,
  });

/** The event for each invoice that a payment pays. */
export const recordedResponse = Joi.object({
  invoice_id: id(),
  invoice_number: words(),
  amount: number().description('What the payment pays of it'),
  currency: currency(),
  date: calendarDay(),
  client: embeddedClient(),
  payment_id: id(),
  payment_number: orNull(Joi.string()),
  method: paymentMethod(),
  reference: orNull(Joi.string()),
})
  .id('RecordedPayment')
  .example({
    invoice_id: exampleId.invoices,
    invoice_number: 'INV-0042',
    amount: 1356.6,
    currency: 'EUR',
    date: '2026-11-20',
    client: exampleClient,
    payment_id: exampleId.payments,
    payment_number: 'PAY-0007',
    method: 'bank_transfer',
    reference: null,
  });

const embeddedCreditNote = () =>
  Joi.object({ id: id(), credit_note_number: words() }).meta({ schema: 'EmbeddedCreditNote' });

const movement = Joi.object({
  kind: Joi.string()
    .valid('payment', 'credit_note', 'credit', 'write_off')
    .required()
    .description('`credit_note` is one of this invoice, `credit` is that of another one which pays this'),
  id: id(),
  date: calendarDay(),
  amount: number(),
  refunded: number(),
  ended_on: orNull(Joi.string()).description('When it was released or taken back; it counts no more'),
  payment: Joi.object({ id: id(), payment_number: words(), method: paymentMethod(), source: words(), status: words() })
    .meta({ schema: 'MovementPayment' })
    .allow(null)
    .required(),
  credit_note: orNull(embeddedCreditNote()),
  reason: orNull(Joi.string()).description('Of a write-off or a credit note'),
}).meta({ schema: 'InvoiceMovement' });

export const invoiceLedger = Joi.object({
  invoice: embeddedInvoice().required(),
  status: Joi.string()
    .valid(...INVOICE_STATUSES)
    .required(),
  currency: currency(),
  total: number(),
  amount_paid: number(),
  amount_credited: number(),
  amount_written_off: number(),
  amount_due: number(),
  has_more: Joi.boolean()
    .required()
    .description('Only the first 1,000 payments or credit notes are shown, or 100 parts of one'),
  movements: Joi.array().items(movement).required().description('By day'),
  rounding_amount: number().description('Rounds `total`: `amount_due` has it'),
})
  .id('InvoiceLedger')
  .example({
    invoice: { id: exampleId.invoices, invoice_number: 'INV-0042' },
    status: 'Paid',
    currency: 'EUR',
    total: 1356.6,
    rounding_amount: 0,
    amount_paid: 1356.6,
    amount_credited: 0,
    amount_written_off: 0,
    amount_due: 0,
    has_more: false,
    movements: [
      {
        kind: 'payment',
        id: EXAMPLE_ALLOCATION,
        date: '2026-11-20',
        amount: 1356.6,
        refunded: 0,
        ended_on: null,
        payment: {
          id: exampleId.payments,
          payment_number: 'PAY-0007',
          method: 'bank_transfer',
          source: 'api',
          status: 'Received',
        },
        credit_note: null,
        reason: null,
      },
    ],
  });

export const ageing = () =>
  Joi.object({
    not_due: number(),
    d1_30: number(),
    d31_60: number(),
    d61_90: number(),
    d91_plus: number(),
  })
    .meta({ schema: 'Ageing' })
    .required();

const balance = Joi.object({
  currency: currency(),
  due: number(),
  overdue: number().description('Of `due`: what should have come by now'),
  ageing: ageing().description('`due` by days overdue'),
  credit: number().description('Money received or credited that is not allocated to an invoice'),
  credit_source_count: number().description('Payments and credit notes with something left'),
  credit_sources: Joi.array()
    .items(
      Joi.object({
        payment: orNull(Joi.object({ id: id(), payment_number: words() }).meta({ schema: 'EmbeddedPayment' })),
        credit_note: orNull(embeddedCreditNote()).description('One of the two is null'),
        date: calendarDay(),
        amount: number(),
      }).meta({ schema: 'CreditSource' }),
    )
    .required()
    .description('The first 100 of them, payments first, oldest first'),
}).meta({ schema: 'CurrencyBalance' });

export const balanceResponse = Joi.object({
  client: embeddedClient(),
  as_of: calendarDay().description('The balance is as of the end of this day'),
  balances: Joi.array().items(balance).required().description('One for each currency; none when nothing is open'),
})
  .id('ClientBalance')
  .example({
    client: exampleClient,
    as_of: '2026-11-21',
    balances: [
      {
        currency: 'EUR',
        due: 335,
        overdue: 0,
        ageing: { not_due: 335, d1_30: 0, d31_60: 0, d61_90: 0, d91_plus: 0 },
        credit: 43.4,
        credit_source_count: 1,
        credit_sources: [
          {
            payment: { id: exampleId.payments, payment_number: 'PAY-0007' },
            credit_note: null,
            date: '2026-11-20',
            amount: 43.4,
          },
        ],
      },
    ],
  });
