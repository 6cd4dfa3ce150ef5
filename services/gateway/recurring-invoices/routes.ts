// Recurring invoices over HTTP. The scheduler makes their invoices; here they are set up, paused and run by hand.
import { recurringView, recurringViews } from '#libs/billing/recurring/recurring-view.ts';
import { runRecurring, skipNext } from '#libs/billing/recurring/run-recurring.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { dayIn } from '#libs/day.ts';
import { appError } from '#libs/errors.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { RecurringInvoice, type RecurringInvoiceRecord } from '#libs/models/billing/recurring-invoice.ts';
import { RecurringRun, recurringRunView } from '#libs/models/billing/recurring-run.ts';
import { changeOwn, findOwn, insertOwn, isUnchanged, removeOwn } from '#libs/models/records.ts';
import { removeAllWith } from '#libs/models/remove-records.ts';
import { invoiceResponse } from '#libs/responses/invoice.ts';
import { occurrenceResponse, recurringInvoiceResponse } from '#libs/responses/recurring-invoice.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, updated } from '../http/response.ts';
import { ALWAYS, type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { changedRecurring, newRecurring, resumedAt } from './change-recurring.ts';
import {
  type NewRecurringInvoice,
  newRecurringInvoice,
  occurrenceList,
  type RecurringInvoiceChanges,
  type Running,
  recurringInvoiceChanges,
  recurringInvoiceList,
  resuming,
  running,
  skipping,
} from './input.ts';

const path = '/api/v1/recurring-invoices';
const missing = 'Recurring invoice not found or access denied';

export const recurringInvoiceRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createRecurringInvoice',
    rechecksKey: true,
    isPrinted: true,
    scope: 'recurring-invoices:write',
    alsoNeeds: {
      'invoices:write': ALWAYS,
      'time-entries:write': 'it bills time',
      'expenses:write': 'it bills expenses',
    },
    query: dryRun,
    body: newRecurringInvoice,
    docs: {
      summary: 'Create a recurring invoice',
      description:
        'Each invoice is made on its day on the calendar of the account, once, and dated that day. When several were missed, all of ' +
        'them become drafts. Its period begins on its day and ends before the next one.',
      response: recurringInvoiceResponse,
      missingReference: 'Client not found or access denied',
      conflict: appError('recurring_limit_reached', { limit: 1000 }),
    },
    handler: createRecurring,
  }),
  route({
    method: 'get',
    path,
    operation: 'listRecurringInvoices',
    scope: 'recurring-invoices:read',
    query: recurringInvoiceList.query,
    docs: {
      title: 'List recurring invoices',
      summary: 'List recurring invoices, newest first',
      response: recurringInvoiceResponse,
    },
    handler: listRecurring,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getRecurringInvoice',
    scope: 'recurring-invoices:read',
    missing: 'Recurring invoice not found',
    docs: { summary: 'Get a recurring invoice', response: recurringInvoiceResponse },
    read: readRecurring,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateRecurringInvoice',
    rechecksKey: true,
    isPrinted: true,
    scope: 'recurring-invoices:write',
    alsoNeeds: {
      'invoices:write': ALWAYS,
      'time-entries:write': 'it bills time',
      'expenses:write': 'it bills expenses',
    },
    body: recurringInvoiceChanges,
    missing,
    docs: {
      title: 'Update a recurring invoice',
      summary: 'Change what the invoices to come are; those that were made stay',
      response: recurringInvoiceResponse,
    },
    handler: updateRecurring,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteRecurringInvoice',
    scope: 'recurring-invoices:write',
    missing,
    docs: {
      title: 'Delete a recurring invoice',
      summary: 'Delete a recurring invoice; its invoices stay',
      message: 'Recurring invoice deleted',
    },
    handler: deleteRecurring,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/pause`,
    operation: 'pauseRecurringInvoice',
    scope: 'recurring-invoices:write',
    missing,
    docs: {
      title: 'Pause a recurring invoice',
      summary: 'Pause: no invoices are made until it is resumed',
      status: 200,
      response: recurringInvoiceResponse,
      conflict: appError('recurring_ended'),
    },
    handler: pauseRecurring,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/resume`,
    operation: 'resumeRecurringInvoice',
    rechecksKey: true,
    scope: 'recurring-invoices:write',
    alsoNeeds: {
      'invoices:write': ALWAYS,
      'time-entries:write': 'it bills time',
      'expenses:write': 'it bills expenses',
    },
    body: resuming,
    missing,
    docs: {
      title: 'Resume a recurring invoice',
      summary: 'Go on after a pause, with or without what was missed',
      status: 200,
      response: recurringInvoiceResponse,
      conflict: appError('recurring_not_paused'),
    },
    handler: resumeRecurring,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/run`,
    operation: 'runRecurringInvoice',
    rechecksKey: true,
    scope: 'recurring-invoices:write',
    alsoNeeds: {
      'invoices:write': ALWAYS,
      'time-entries:write': 'it bills time',
      'expenses:write': 'it bills expenses',
    },
    query: dryRun,
    body: running,
    missing,
    docs: {
      title: 'Make the next invoice now',
      summary: 'Make the invoice of the next occurrence now',
      description:
        'The schedule goes on with the occurrence after it. With `on`, also an occurrence without an invoice.',
      response: invoiceResponse,
      warns: true,
      conflict: appError('nothing_to_bill'),
    },
    handler: runNow,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/skip`,
    operation: 'skipOccurrence',
    scope: 'recurring-invoices:write',
    body: skipping,
    missing,
    docs: {
      title: 'Skip the next occurrence',
      summary: 'Leave the next occurrence out',
      status: 200,
      response: recurringInvoiceResponse,
      conflict: appError('recurring_day_not_due', { day: '2027-01-31' }),
    },
    handler: skipRecurring,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/end`,
    operation: 'endRecurringInvoice',
    scope: 'recurring-invoices:write',
    missing,
    docs: {
      title: 'End a recurring invoice',
      summary: 'End it: no occurrence comes any more, and its invoices and occurrences stay',
      status: 200,
      response: recurringInvoiceResponse,
    },
    handler: endRecurring,
  }),
  route({
    method: 'get',
    path: `${path}/{id}/occurrences`,
    operation: 'listOccurrences',
    scope: 'recurring-invoices:read',
    query: occurrenceList.query,
    missing: 'Recurring invoice not found',
    docs: {
      title: 'List occurrences',
      summary: 'List the occurrences that were made or left out, latest first',
      response: occurrenceResponse,
    },
    handler: listOccurrences,
  }),
];

async function createRecurring({ body, commit, requireScope }: Context<NewRecurringInvoice, DryRun>) {
  requireBilledScopes(requireScope, body.include_time);
  return commit(async (unit) => {
    const recurring = await newRecurring(unit, body);
    await insertOwn(RecurringInvoice, recurring, unit.session);
    const view = await recurringView(recurring, unit.accountId, unit.session);
    await unit.announce('recurring_invoice.created', view);
    return created(view);
  });
}

async function listRecurring({ caller, query }: Context<unknown, ListQuery>) {
  return recurringInvoiceList.respond({ caller, query }, (records) => recurringViews(records, caller.accountId));
}

async function readRecurring({ caller, id, session }: Reading) {
  const recurring = await findOwn(RecurringInvoice, caller.accountId, id, session);
  return recurring && recurringView(recurring, caller.accountId, session);
}

async function updateRecurring(context: Context<RecurringInvoiceChanges>) {
  return changing(context, async (unit, recurring) => {
    const changes = await changedRecurring(unit, recurring, context.body);
    requireBilledScopes(context.requireScope, { ...recurring, ...changes }.include_time);
    if (isUnchanged(recurring, changes)) return recurring;
    return changed(unit, recurring, changes, 'recurring_invoice.updated');
  });
}

async function pauseRecurring(context: Context) {
  return changing(context, async (unit, recurring) => {
    if (recurring.status === 'Ended') throw appError('recurring_ended');
    if (recurring.status === 'Paused') return recurring;
    return changed(unit, recurring, { status: 'Paused' }, 'recurring_invoice.paused');
  });
}

async function resumeRecurring(context: Context<{ catch_up: boolean }>) {
  return changing(context, async (unit, recurring) => {
    if (recurring.status !== 'Paused') throw appError('recurring_not_paused');
    requireBilledScopes(context.requireScope, recurring.include_time);
    const today = dayIn((await readAccount(unit.accountId, unit.session)).time_zone);
    const place = context.body.catch_up ? { next_on: recurring.next_on } : resumedAt(recurring, today);
    const status = place.next_on === undefined ? 'Ended' : 'Active';
    const resumed = await changed(
      unit,
      recurring,
      { ...place, status, retry_on: undefined },
      'recurring_invoice.resumed',
    );
    if (status === 'Ended') {
      await unit.announce('recurring_invoice.ended', await recurringView(resumed, unit.accountId, unit.session));
    }
    return resumed;
  });
}

async function runNow({ id, body, commit, missing, requireRecord, requireScope }: Context<Running, DryRun>) {
  return commit(async (unit) => {
    requireBilledScopes(requireScope, (await requireRecord(RecurringInvoice, unit.session)).include_time);
    const { view } = await runRecurring(unit, id, { at: agreedDate(), isByHand: true, on: body.on, missing });
    return created(view);
  });
}

async function skipRecurring({ id, body, commit, missing, requireRecord }: Context<{ on: string }>) {
  return commit(async (unit) => {
    await requireRecord(RecurringInvoice, unit.session);
    const skipped = await skipNext(unit, id, { at: agreedDate(), on: body.on, missing });
    return updated(await recurringView(skipped, unit.accountId, unit.session));
  });
}

async function endRecurring(context: Context) {
  return changing(context, async (unit, recurring) => {
    if (recurring.status === 'Ended') return recurring;
    const none = { next_on: undefined, catching_up_to: undefined, last_error: undefined, retry_on: undefined };
    return changed(unit, recurring, { status: 'Ended', ...none }, 'recurring_invoice.ended');
  });
}

/** Checks that this key may bill all that the scheduler will bill later without a key. */
function requireBilledScopes(
  requireScope: Context['requireScope'],
  included: { include_expenses?: boolean | undefined } | null | undefined,
): void {
  if (included) requireScope('time-entries:write');
  if (included?.include_expenses) requireScope('expenses:write');
}

async function deleteRecurring({ commit, requireRecord }: Context) {
  return commit(async ({ session, accountId, announce }) => {
    const recurring = await requireRecord(RecurringInvoice, session);
    const view = await recurringView(recurring, accountId, session);
    await removeAllWith(RecurringRun, accountId, { recurring_id: recurring._id }, session, async () => {});
    await removeOwn(RecurringInvoice, recurring, session);
    await announce('recurring_invoice.deleted', view);
    return deleted('Recurring invoice deleted');
  });
}

async function listOccurrences({ caller, query, requireRecord }: Context<unknown, ListQuery>) {
  const recurring = await requireRecord(RecurringInvoice);
  const within = { recurring_id: recurring._id };
  return occurrenceList.respond({ caller, query }, (records) => records.map(recurringRunView), within);
}

type Change = (unit: UnitOfWork, recurring: RecurringInvoiceRecord) => Promise<RecurringInvoiceRecord>;

/** Runs a change of the record of the path. */
function changing({ commit, requireRecord }: Pick<Context, 'commit' | 'requireRecord'>, change: Change) {
  return commit(async (unit) => {
    const recurring = await requireRecord(RecurringInvoice, unit.session);
    return updated(await recurringView(await change(unit, recurring), unit.accountId, unit.session));
  });
}

async function changed(
  { session, accountId, announce }: UnitOfWork,
  recurring: RecurringInvoiceRecord,
  changes: Partial<RecurringInvoiceRecord>,
  event: `recurring_invoice.${'updated' | 'paused' | 'resumed' | 'ended'}`,
): Promise<RecurringInvoiceRecord> {
  const next = await changeOwn(RecurringInvoice, recurring, changes, session);
  await announce(event, await recurringView(next, accountId, session));
  return next;
}
