// Time on invoices over HTTP: an invoice from unbilled time, time added to a draft and taken off again, and the hours behind each line.

import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { addTimeTo, createInvoiceFromTime } from '#libs/billing/work/invoice-from-time.ts';
import { takeWorkOff } from '#libs/billing/work/take-work-off.ts';
import { appError } from '#libs/errors.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { invoiceResponse } from '#libs/responses/invoice.ts';
import { changedDates } from '../fields/dates-input.ts';
import { storedLines } from '../fields/money-input.ts';
import { givenTexts } from '../fields/texts-input.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import { created, found, updated } from '../http/response.ts';
import { ALWAYS, type Caller, type Context, type Route, route } from '../http/route.ts';
import {
  addedTime,
  type ReleaseInput,
  releasedTime,
  type TimeInput,
  type TimeInvoiceInput,
  timeInvoice,
} from './time-input.ts';
import { invoiceTimeResponse, invoiceTimeView } from './time-view.ts';
import { viewOf } from './view.ts';

const path = '/api/v1/invoices';
const missing = 'Invoice not found or access denied';

export const invoiceTimeRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: `${path}/from-time`,
    operation: 'createInvoiceFromTime',
    isPrinted: true,
    scope: 'invoices:write',
    alsoNeeds: { 'time-entries:write': ALWAYS, 'expenses:write': 'the invoice bills expenses' },
    query: dryRun,
    body: timeInvoice,
    docs: {
      title: 'Create an invoice from time',
      summary: 'Create an invoice of unbilled time and expenses',
      description: `Each entry is on one invoice at most: of two callers who want the same time, one gets it. Without \`time_entry_ids\` all unbilled time of the client that the filter finds is billed, at most 1,000 entries. Hours of packages are drawn before any is charged. Expenses come along with \`expense_ids\` or \`include_expenses\`. With \`dry_run=true\` it is a preview.`,
      response: invoiceResponse,
      warns: true,
      missingReference: 'Client not found or access denied',
      conflict: appError('nothing_to_bill'),
    },
    handler: postInvoiceFromTime,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/time-entries`,
    operation: 'addTimeToInvoice',
    isPrinted: true,
    scope: 'invoices:write',
    alsoNeeds: { 'time-entries:write': ALWAYS, 'expenses:write': 'the invoice bills expenses' },
    body: addedTime,
    missing,
    docs: {
      title: 'Add time to an invoice',
      summary: 'Add unbilled time and expenses to a draft',
      description: `New lines follow those that are there. What prepaid and included hours cover is computed anew, unless more than texts of lines of time was edited by hand: then nothing more is included.`,
      status: 200,
      response: invoiceResponse,
      conflict: appError('nothing_to_bill'),
    },
    handler: postTime,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/time-entries/release`,
    operation: 'releaseTimeFromInvoice',
    scope: 'invoices:write',
    alsoNeeds: { 'time-entries:write': ALWAYS, 'expenses:write': 'expenses are taken off' },
    body: releasedTime,
    missing,
    docs: {
      title: 'Release time from an invoice',
      summary: 'Take time and expenses off a draft, so that they are unbilled again',
      description: `Its lines are computed anew, unless more than their texts and units was edited by hand: then they stay.`,
      status: 200,
      response: invoiceResponse,
      conflict: appError('invoice_time_issued'),
    },
    handler: postRelease,
  }),
  route({
    method: 'get',
    path: `${path}/{id}/time`,
    operation: 'getInvoiceTime',
    isLarge: true,
    scope: 'invoices:read',
    alsoNeeds: { 'time-entries:read': ALWAYS },
    missing: 'Invoice not found',
    docs: {
      title: 'Get the time of an invoice',
      summary: 'Get the hours behind each line of an invoice',
      response: invoiceTimeResponse,
    },
    handler: getTime,
  }),
];

async function postInvoiceFromTime({ body, commit, requireScope }: Context<TimeInvoiceInput, DryRun>) {
  if (body.expense_ids || body.include_expenses) requireScope('expenses:write');
  return commit(async (unit) => {
    const { view } = await createInvoiceFromTime(unit, {
      ...body,
      extra_lines: storedLines(body.extra_lines),
      dates: changedDates(body),
      charges: body,
      texts: givenTexts(body),
    });
    return created(view);
  });
}

async function postTime({ caller, body, commit, requireRecord, requireScope }: Context<TimeInput>) {
  if (body.expense_ids || body.include_expenses) requireScope('expenses:write');
  return commit(async (unit) => {
    const invoice = await requireRecord(Invoice, unit.session);
    return announced(unit, await addTimeTo(unit, invoice, body), caller);
  });
}

async function postRelease({ caller, body, commit, requireRecord, requireScope }: Context<ReleaseInput>) {
  return commit(async (unit) => {
    const invoice = await requireRecord(Invoice, unit.session);
    if (body.expense_ids || (invoice.expenses && !body.time_entry_ids)) requireScope('expenses:write');
    const changed = await takeWorkOff(unit, invoice, body);
    if (changed === invoice) return updated(await viewOf(invoice, caller, { session: unit.session }));
    return announced(unit, changed, caller);
  });
}

async function getTime({ caller, requireRecord }: Context) {
  const invoice = await requireRecord(Invoice);
  const { locale } = await readAccount(caller.accountId);
  return found(await invoiceTimeView(invoice, caller.accountId, locale));
}

async function announced(unit: UnitOfWork, invoice: InvoiceRecord, caller: Caller) {
  const view = await viewOf(invoice, caller, { session: unit.session });
  await unit.announce('invoice.updated', view);
  return updated(view);
}
