// Payments over HTTP: what came, which invoices it pays, and what went back.
import { announceBooked, type Booked, bookPayment, type NewPayment } from '#libs/billing/payments/book-payment.ts';
import { allocateCredit, releaseAllocations, voidPayment } from '#libs/billing/payments/change-payment.ts';
import { refundPayment } from '#libs/billing/payments/refund-payment.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { appError } from '#libs/errors.ts';
import { Payment, type PaymentRecord, paymentView } from '#libs/models/billing/payment.ts';
import { changeOwn, findOwn, isUnchanged } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import { paymentResponse } from '#libs/responses/payment.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, type JsonResponse, replayed, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import {
  type InvoicePayment,
  invoicePayment,
  newAllocation,
  newPayment,
  newRefund,
  type PaymentBody,
  type PaymentChanges,
  paymentChanges,
  paymentList,
  type RefundInput,
  releasing,
  voiding,
} from './input.ts';

const path = '/api/v1/payments';
const missing = 'Payment not found or access denied';
const missingInvoice = 'Invoice not found or access denied';

export const paymentRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createPayment',
    scope: 'payments:write',
    query: dryRun,
    body: newPayment,
    docs: {
      title: 'Create a payment',
      summary: 'Book a payment over any number of invoices',
      response: paymentResponse,
      missingReference: 'Client not found or access denied',
      conflict: appError('allocation_exceeds_due', { amount: '350.00', number: 'INV-0042', due: '335.00' }),
    },
    handler: postPayment,
  }),
  route({
    method: 'post',
    path: '/api/v1/invoices/{id}/payments',
    operation: 'payInvoice',
    scope: 'payments:write',
    query: dryRun,
    body: invoicePayment,
    missing: missingInvoice,
    docs: {
      title: 'Pay an invoice',
      summary: 'Book a payment of one invoice',
      response: paymentResponse,
      conflict: appError('invoice_is_draft'),
    },
    handler: payInvoice,
  }),
  route({
    method: 'get',
    path,
    operation: 'listPayments',
    scope: 'payments:read',
    query: paymentList.query,
    docs: {
      title: 'List payments',
      summary: 'List payments, newest first',
      response: paymentResponse,
    },
    handler: listPayments,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getPayment',
    scope: 'payments:read',
    missing: 'Payment not found',
    docs: {
      summary: 'Get a payment',
      response: paymentResponse,
    },
    read: readPayment,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updatePayment',
    scope: 'payments:write',
    body: paymentChanges,
    missing,
    docs: {
      title: 'Update a payment',
      summary: 'Change how a payment is described; its money never changes',
      response: paymentResponse,
    },
    handler: updatePayment,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/allocations`,
    operation: 'allocatePayment',
    scope: 'payments:write',
    body: newAllocation,
    missing,
    docs: {
      title: 'Allocate a payment',
      summary: 'Pay an invoice from what is left of a payment',
      missingReference: missingInvoice,
      response: paymentResponse,
      conflict: appError('allocation_exceeds_due', { amount: '350.00', number: 'INV-0042', due: '335.00' }),
    },
    handler: allocatePayment,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/release`,
    operation: 'releasePayment',
    scope: 'payments:write',
    body: releasing,
    missing,
    docs: {
      title: 'Release a payment',
      summary: 'Make an allocation credit again, or all of them; the invoices are due again',
      status: 200,
      response: paymentResponse,
      conflict: appError('allocation_released'),
    },
    handler: releasePayment,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/void`,
    operation: 'voidPayment',
    scope: 'payments:write',
    body: voiding,
    missing,
    docs: {
      title: 'Void a payment',
      summary: 'Void a payment that was entered by mistake; its invoices are due again',
      status: 200,
      response: paymentResponse,
      conflict: appError('payment_refunded'),
    },
    handler: postVoid,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/refunds`,
    operation: 'refundPayment',
    scope: 'payments:write',
    body: newRefund,
    missing,
    docs: {
      title: 'Refund a payment',
      summary: 'Book money that went back, from the credit or from an invoice',
      missingReference: missingInvoice,
      response: paymentResponse,
      conflict: appError('refund_exceeds_unallocated', { amount: '120.00', left: '100.00' }),
    },
    handler: postRefund,
  }),
];

async function postPayment({ body, commit }: Context<PaymentBody, DryRun>) {
  const { allocations, ...given } = body;
  return commit((unit) => book(unit, { ...given, source: 'api', pays: allocations ?? 'oldest' }));
}

async function payInvoice({ id, body, commit }: Context<InvoicePayment, DryRun>) {
  return commit((unit) => book(unit, { ...body, source: 'api', pays: { invoice_id: id } }));
}

async function book(unit: UnitOfWork, given: NewPayment): Promise<JsonResponse> {
  const booked: Booked = await bookPayment(unit, given);
  await announceBooked(unit, booked);
  return bookedOnce(booked);
}

async function listPayments({ caller, query }: Context<unknown, ListQuery>) {
  return paymentList.respond({ caller, query }, (records) => records.map((payment) => paymentView(payment)));
}

async function readPayment({ caller, id, session }: Reading) {
  const payment = await findOwn(Payment, caller.accountId, id, session);
  return payment && paymentView(payment);
}

async function updatePayment({ body, commit, requireRecord }: Context<PaymentChanges>) {
  return commit(async ({ session, announce }) => {
    const payment = await requireRecord(Payment, session);
    const changes: Partial<PaymentRecord> = { ...body };
    if (body.reference !== undefined) changes.reference = body.reference || null;
    if (body.note !== undefined) changes.note = body.note || null;
    if (isUnchanged(payment, changes)) return updated(paymentView(payment));
    const view = paymentView(await changeOwn(Payment, payment, changes, session));
    await announce('payment.updated', view);
    return updated(view);
  });
}

async function allocatePayment(context: Context<{ invoice_id: Id; amount?: number }>) {
  const { body } = context;
  return withPayment(context, async (unit, payment) => created(paymentView(await allocateCredit(unit, payment, body))));
}

async function releasePayment(context: Context<{ allocation_id?: Id }>) {
  const { allocation_id } = context.body;
  return withPayment(context, async (unit, payment) =>
    updated(paymentView(await releaseAllocations(unit, payment, allocation_id))),
  );
}

async function postVoid(context: Context<{ reason: string }>) {
  const { reason } = context.body;
  return withPayment(context, async (unit, payment) => updated(paymentView(await voidPayment(unit, payment, reason))));
}

async function postRefund(context: Context<RefundInput>) {
  return withPayment(context, async (unit, payment) => bookedOnce(await refundPayment(unit, payment, context.body)));
}

/** Runs an operation on the payment of the path. */
function withPayment(
  { commit, requireRecord }: Pick<Context, 'commit' | 'requireRecord'>,
  work: (unit: UnitOfWork, payment: PaymentRecord) => Promise<JsonResponse>,
): Promise<JsonResponse> {
  return commit(async (unit) => {
    const payment = await requireRecord(Payment, unit.session);
    return work(unit, payment);
  });
}

/** A payment or refund that was booked before by its `external_id` is returned as a replay. */
function bookedOnce({ payment, isKnown }: { payment: PaymentRecord; isKnown: boolean }): JsonResponse {
  const view = paymentView(payment);
  return isKnown ? replayed(view) : created(view);
}
