// Input of payments.
import Joi from 'joi';
import { ALLOCATIONS_MAX, type NamedPart } from '#libs/billing/payments/payment-parts.ts';
import { currency, day, text, uuid } from '#libs/input/kinds.ts';
import { Payment, type PaymentRecord, paymentListing } from '#libs/models/billing/payment.ts';
import type { Id } from '#libs/models/tenant.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import type { PaymentMethod } from '#libs/rules/money/payment-methods.ts';
import { byRest } from '../fields/list-filters.ts';
import {
  bankReference,
  externalId,
  movedAmount,
  paymentMethodInput,
  type RefundDetailsInput,
  reasonInput,
  refundDetails,
} from '../fields/movement-input.ts';
import { byId, listOf } from '../http/list.ts';

/** The short form of a payment: of one invoice, which the path names. */
export interface InvoicePayment {
  amount?: number;
  date?: string;
  method: PaymentMethod;
  reference?: string | null;
  external_id?: string | null;
  note?: string | null;
}

export interface PaymentBody extends InvoicePayment {
  client_id: Id;
  amount: number;
  currency?: string;
  allocations?: NamedPart[] | null;
}

export interface PaymentChanges {
  method?: PaymentMethod;
  reference?: string | null;
  note?: string | null;
}

export interface RefundInput extends RefundDetailsInput {
  amount: number;
  invoice_id?: Id | null;
}

const details = {
  date: day().description("The day the money came; today on the account's calendar unless given, and not after it"),
  method: paymentMethodInput().default('other'),
  reference: bankReference(),
  external_id: externalId()
    .allow(null)
    .description('What another system calls it. A payment is booked once for it: a repeat answers 200 with the first'),
  note: text().allow(null, '').description('For the account only'),
};

export const newPayment = Joi.object<PaymentBody, true>({
  client_id: uuid().required(),
  amount: movedAmount().required(),
  currency: currency().description(
    "Unless given, that of the invoices in `allocations`, else the client's, else the account's, else USD",
  ),
  ...details,
  allocations: Joi.array()
    .items(
      Joi.object<NamedPart>({
        invoice_id: uuid().required(),
        amount: movedAmount().description('Unless given, what is due, as far as the payment reaches'),
      }).meta({ schema: 'AllocationInput' }),
    )
    .max(ALLOCATIONS_MAX)
    .unique('invoice_id')
    .messages({ 'array.unique': '{{#label}} names an invoice that was named before' })
    .allow(null)
    .description(
      'Which invoices it pays. Absent: those that are due, oldest first. An empty list: none, all of it is credit. ' +
        'A named amount must not be more than what is due',
    ),
}).example({
  client_id: exampleId.clients,
  amount: 400,
  currency: 'EUR',
  method: 'bank_transfer',
  reference: 'RF18 5390 0754 7034',
});

export const invoicePayment = Joi.object<InvoicePayment, true>({
  amount: movedAmount().description('What is due unless given; what is more than due is kept as credit of the client'),
  ...details,
}).example({ amount: 60, method: 'bank_transfer' });

export const paymentChanges = Joi.object<PaymentChanges, true>({
  method: paymentMethodInput(),
  reference: bankReference(),
  note: text().allow(null, ''),
}).example({ note: 'Paid from the account of the parent company' });

export const newAllocation = Joi.object<{ invoice_id: Id; amount?: number }, true>({
  invoice_id: uuid().required(),
  amount: movedAmount().description('Unless given, what is due, as far as the credit reaches'),
}).example({ invoice_id: exampleId.invoices, amount: 40 });

export const releasing = Joi.object<{ allocation_id?: Id }, true>({
  allocation_id: uuid().description('One of the `allocations` of the payment; all of them unless given'),
}).example({});

export const voiding = Joi.object<{ reason: string }, true>({
  reason: reasonInput(),
}).example({ reason: 'Entered twice' });

export const newRefund = Joi.object<RefundInput, true>({
  amount: movedAmount().required(),
  ...refundDetails,
  method: paymentMethodInput().description("Unless given, the payment's"),
  invoice_id: uuid()
    .allow(null)
    .description('The invoice that it is taken from, which is due again. From the credit unless given'),
}).example({ amount: 10, reference: 'Refund of the surplus' });

export interface BalanceQuery {
  as_of?: string;
}

export const balanceQuery = Joi.object<BalanceQuery>({
  as_of: day().description(
    'A past day: the balance at its end, whenever movements were booked. They count with their own days, and due dates as they are today',
  ),
});

export const paymentList = listOf<PaymentRecord>(
  Payment,
  paymentListing,
  {
    client_id: byId('client_id'),
    invoice_id: byId('allocations.invoice_id', 'Payments with an allocation to it, released ones too'),
    method: {
      input: paymentMethodInput().description('Only payments by this method'),
      where: (method: PaymentMethod) => ({ method }),
    },
    external_id: {
      input: externalId().description('Only payments with this id of yours'),
      where: (external_id: string) => ({ external_id }),
    },
    unallocated: byRest,
  },
  ['client_id', 'invoice_id', 'method', 'external_id', 'date_from', 'date_to', 'unallocated'],
);
