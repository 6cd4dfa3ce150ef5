// Where an invoice and a client stand: every movement of the one, and what the other owes or has as credit.
import { dueOf, totalOf } from '#libs/billing/balance.ts';
import { clientBalances } from '#libs/billing/client-balance.ts';
import { effectiveInvoiceStatus } from '#libs/billing/invoice-states.ts';
import { fromMinor } from '#libs/billing/money.ts';
import { dayIn } from '#libs/day.ts';
import { Client, embeddedClient } from '#libs/models/accounts/client.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import { Payment, type PaymentRecord } from '#libs/models/billing/payment.ts';
import { LIST_LIMIT_MS } from '#libs/models/list-total.ts';
import { driverOf, findOwn } from '#libs/models/records.ts';
import { type Id, storedId } from '#libs/models/tenant.ts';
import { found } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { balanceResponse, invoiceLedger } from './response.ts';

export const balanceRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/invoices/{id}/payments',
    operation: 'getInvoicePayments',
    scope: 'payments:read',
    missing: 'Invoice not found or access denied',
    docs: {
      summary: 'Get every movement of an invoice, released and voided ones too, and what is due',
      response: invoiceLedger,
    },
    handler: getInvoicePayments,
  }),
  route({
    method: 'get',
    path: '/api/v1/clients/{id}/balance',
    operation: 'getClientBalance',
    scope: 'payments:read',
    missing: 'Client not found or access denied',
    docs: {
      summary: 'Get what a client owes and has as credit, per currency',
      response: balanceResponse,
    },
    handler: getClientBalance,
  }),
];

async function getInvoicePayments({ caller, id, missing }: Context) {
  const { accountId, account } = caller;
  const invoice = await findOwn(Invoice, accountId, id);
  if (!invoice) throw missing();
  const payments = await paymentsOf(accountId, invoice);
  const { currency } = invoice;
  const major = (amount: number) => fromMinor(amount, currency);
  const status = effectiveInvoiceStatus(invoice, dayIn(account.time_zone));
  return found({
    invoice: { id, invoice_number: printedNumber('invoice', invoice) },
    status,
    currency,
    total: major(totalOf(invoice)),
    amount_paid: major(invoice.amount_paid),
    amount_written_off: major(invoice.amount_written_off ?? 0),
    amount_due: status === 'Cancelled' ? 0 : major(dueOf(invoice)),
    movements: [...paidOf(invoice, payments, major), ...writtenOffOf(invoice, major)].toSorted((one, other) =>
      `${one.date}${one.id}` < `${other.date}${other.id}` ? -1 : 1,
    ),
  });
}

async function getClientBalance({ caller, id, missing }: Context) {
  const { accountId, account } = caller;
  const client = await findOwn(Client, accountId, id);
  if (!client) throw missing();
  const balances = await clientBalances(accountId, client._id, dayIn(account.time_zone));
  return found({ client: embeddedClient(client), balances });
}

async function paymentsOf(accountId: Id, { _id }: InvoiceRecord): Promise<PaymentRecord[]> {
  const paying = { account_id: storedId(accountId), 'allocations.invoice_id': _id } as object;
  const projection = { 'parties.issuer': 0 };
  return (await driverOf(Payment)
    .find(paying, { sort: { _id: 1 }, maxTimeMS: LIST_LIMIT_MS, projection })
    .toArray()) as unknown as PaymentRecord[];
}

function paidOf({ _id }: InvoiceRecord, payments: readonly PaymentRecord[], major: (amount: number) => number) {
  return payments.flatMap((payment) =>
    payment.allocations
      .filter(({ invoice_id }) => invoice_id.equals(_id))
      .map((part) => ({
        kind: 'payment',
        id: String(part._id),
        date: part.date,
        amount: major(part.amount),
        refunded: major(part.refunded),
        ended_on: part.released_on ?? null,
        payment: {
          id: String(payment._id),
          payment_number: printedNumber('payment', payment),
          method: payment.method,
          source: payment.source,
          status: payment.status,
        },
        reason: null,
      })),
  );
}

function writtenOffOf({ write_offs = [] }: InvoiceRecord, major: (amount: number) => number) {
  return write_offs.map(({ _id, date, amount, reason, reversed_on }) => ({
    kind: 'write_off',
    id: String(_id),
    date,
    amount: major(amount),
    refunded: 0,
    ended_on: reversed_on ?? null,
    payment: null,
    reason,
  }));
}
