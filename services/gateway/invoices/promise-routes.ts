// The days on which clients promised to pay an invoice, over HTTP.
import { deletePromises } from '#libs/billing/answers/promise-payment.ts';
import { Client } from '#libs/models/accounts/client.ts';
import { PaymentPromise, type PromiseRecord, promiseListing, promiseView } from '#libs/models/answers/promise.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { findOwn } from '#libs/models/records.ts';
import { promiseResponse } from '#libs/responses/promise.ts';
import { type ListQuery, listOf } from '../http/list.ts';
import { deleted } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';

const path = '/api/v1/invoices/{id}/promises';
const missing = 'Invoice not found or access denied';
const promiseList = listOf<PromiseRecord>(PaymentPromise, promiseListing);

export const promiseRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    operation: 'listPromises',
    scope: 'invoices:read',
    query: promiseList.query,
    missing,
    docs: {
      title: 'List the promises of an invoice',
      summary: 'List the days on which the client promised to pay an invoice, the latest first',
      response: promiseResponse,
    },
    handler: listPromises,
  }),
  route({
    method: 'delete',
    path,
    operation: 'deletePromises',
    scope: 'invoices:write',
    missing,
    docs: {
      title: 'Delete the promises of an invoice',
      summary: 'Delete the promises of an invoice: its reminders go on, and the client can promise again',
      message: 'Promises deleted',
    },
    handler: removePromises,
  }),
];

async function listPromises({ caller, query, requireRecord }: Context<unknown, ListQuery>) {
  const invoice = await requireRecord(Invoice);
  const client = await findOwn(Client, caller.accountId, invoice.client_id);
  const view = (promises: PromiseRecord[]) => promises.map((one) => promiseView(one, invoice, client ?? undefined));
  return promiseList.respond({ caller, query }, view, { invoice_id: invoice._id });
}

async function removePromises({ commit, requireRecord }: Context) {
  return commit(async (unit) => {
    await deletePromises(unit, await requireRecord(Invoice, unit.session));
    return deleted('Promises deleted');
  });
}
