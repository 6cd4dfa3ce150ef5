// Invoices over HTTP.

import { omit } from 'es-toolkit/object/omit';
import { settledDueDate } from '#libs/billing/documents/client-terms.ts';
import { correctionOf } from '#libs/billing/documents/corrected-invoice.ts';
import { createInvoice } from '#libs/billing/documents/create-invoice.ts';
import { drawDocument } from '#libs/billing/documents/new-document.ts';
import { announceQuotes } from '#libs/billing/quotes/announce-quotes.ts';
import { unlinkOccurrence } from '#libs/billing/recurring/unlink-occurrence.ts';
import { releaseBilled } from '#libs/billing/work/release-billed.ts';
import { dayIn } from '#libs/day.ts';
import { appError } from '#libs/errors.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { tombstoneNumber } from '#libs/models/billing/number-ledger.ts';
import { replaceAttachments } from '#libs/models/documents/attachments.ts';
import { removeDocumentLinks } from '#libs/models/portal/document-link.ts';
import { findOwn, removeOwn } from '#libs/models/records.ts';
import { storedId } from '#libs/models/tenant.ts';
import { invoiceResponse } from '#libs/responses/invoice.ts';
import { changedDates } from '../fields/dates-input.ts';
import { storedLines } from '../fields/money-input.ts';
import { givenReferences } from '../fields/references-input.ts';
import { givenReminders } from '../fields/reminder-input.ts';
import { givenTexts } from '../fields/texts-input.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { invoiceChanges, invoiceList, type NewInvoice, newInvoice } from './input.ts';
import { updateInvoice } from './update-invoice.ts';
import { viewOf, viewsOf } from './view.ts';

const path = '/api/v1/invoices';
const missing = 'Invoice not found or access denied';

export const invoiceRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createInvoice',
    isPrinted: true,
    scope: 'invoices:write',
    query: dryRun,
    body: newInvoice,
    docs: {
      title: 'Create an invoice',
      summary: 'Create an invoice and draw its number',
      response: invoiceResponse,
      warns: true,
      missingReference: 'Client not found or access denied',
    },
    handler: postInvoice,
  }),
  route({
    method: 'get',
    path,
    operation: 'listInvoices',
    scope: 'invoices:read',
    query: invoiceList.query,
    docs: {
      title: 'List invoices',
      summary: 'List invoices, newest first',
      response: invoiceResponse,
    },
    handler: listInvoices,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getInvoice',
    scope: 'invoices:read',
    missing: 'Invoice not found',
    docs: {
      summary: 'Get an invoice',
      response: invoiceResponse,
    },
    read: readInvoice,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateInvoice',
    isPrinted: true,
    scope: 'invoices:write',
    body: invoiceChanges,
    missing,
    docs: {
      title: 'Update an invoice',
      summary: 'Update an invoice, send it, mark it as paid or cancel it',
      response: invoiceResponse,
      warns: true,
      conflict: appError('invoice_status_not_possible', { from: 'Paid', to: 'Draft' }),
      missingReference: 'Client not found or access denied',
    },
    handler: updateInvoice,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteInvoice',
    scope: 'invoices:write',
    missing,
    docs: {
      title: 'Delete an invoice',
      summary: 'Delete a draft; its number is never given again',
      message: 'Invoice deleted',
      conflict: appError('invoice_not_draft'),
    },
    handler: deleteInvoice,
  }),
];

async function postInvoice({ body, commit }: Context<NewInvoice, DryRun>) {
  return commit(async (unit) => {
    const content = {
      ...omit(body, ['notes', 'terms', 'corrects', 'reminders']),
      charges: body,
      texts: givenTexts(body),
      line_items: storedLines(body.line_items),
      dates: changedDates(body),
    };
    const drawn = await drawDocument(unit, 'invoice', body.issue_date);
    const correction = body.corrects ? await correctionOf(unit, body.corrects, storedId(body.client_id)) : {};
    const origin = { ...givenReferences(body), ...givenReminders(body), ...correction };
    const due_date = body.due_date ?? (await settledDueDate(unit, drawn.account, body));
    const { view } = await createInvoice(unit, drawn, { ...content, origin, due_date });
    return created(view);
  });
}

async function listInvoices({ caller, query }: Context<unknown, ListQuery>) {
  const today = dayIn(caller.account.time_zone);
  return invoiceList.respond({ caller, query }, (records) => viewsOf(records, caller.accountId, today));
}

async function readInvoice({ caller, id, session }: Reading) {
  const invoice = await findOwn(Invoice, caller.accountId, id, session);
  return invoice && viewOf(invoice, caller, { session });
}

async function deleteInvoice({ caller, commit, requireRecord }: Context) {
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const invoice = await requireRecord(Invoice, session);
    if (invoice.status !== 'Draft') throw appError('invoice_not_draft');
    const view = await viewOf(invoice, caller, { session });
    await removeOwn(Invoice, invoice, session);
    await replaceAttachments(accountId, invoice._id, [], session);
    await removeDocumentLinks(accountId, { subject_id: invoice._id }, session);
    await releaseBilled(unit, invoice);
    await tombstoneNumber(session, accountId, invoice._id);
    await announce('invoice.deleted', view);
    await unlinkOccurrence(unit, invoice);
    await announceQuotes(unit, [{ before: invoice, after: undefined }]);
    return deleted('Invoice deleted');
  });
}
