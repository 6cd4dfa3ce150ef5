// Credit notes over HTTP: what corrects an invoice, and where its sum goes.
import {
  allocateCreditNote,
  refundCreditNote,
  releaseCreditNote,
} from '#libs/billing/credit-notes/change-credit-note.ts';
import { announceCredited, drawCreditNote } from '#libs/billing/credit-notes/draw-credit-note.ts';
import { findKnownCreditNote } from '#libs/billing/credit-notes/known-credit-note.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { appError } from '#libs/errors.ts';
import { CreditNote, type CreditNoteRecord, creditNoteView } from '#libs/models/billing/credit-note.ts';
import { findOwn } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import { creditNoteResponse } from '#libs/responses/credit-note.ts';
import { storedLines } from '../fields/money-input.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, type JsonResponse, replayed, updated } from '../http/response.ts';
import { ALWAYS, type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import {
  type CreditNoteBody,
  type CreditRefundBody,
  creditAllocation,
  creditNoteList,
  creditRefund,
  creditRelease,
  newCreditNote,
} from './input.ts';

const path = '/api/v1/credit-notes';
const missing = 'Credit note not found or access denied';
const missingInvoice = 'Invoice not found or access denied';

export const creditNoteRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/invoices/{id}/credit-notes',
    operation: 'creditInvoice',
    isPrinted: true,
    scope: 'credit-notes:write',
    alsoNeeds: { 'payments:write': 'the credit is refunded at once' },
    query: dryRun,
    body: newCreditNote,
    missing: missingInvoice,
    docs: {
      title: 'Credit an invoice',
      summary: 'Issue a credit note for an invoice, or for a part of it',
      description:
        'It reduces the amount due first. What was paid beyond that becomes credit of the client, or is refunded with `settle` refund. ' +
        'All credit notes of an invoice sum to the invoice at most. Named time entries and expenses are credited with what they were charged. ' +
        'A credit note is never changed or taken back.',
      response: creditNoteResponse,
      conflict: appError('credit_exceeds_invoice', { number: 'INV-0042', left: '610.00' }),
    },
    handler: creditInvoice,
  }),
  route({
    method: 'get',
    path,
    operation: 'listCreditNotes',
    scope: 'credit-notes:read',
    query: creditNoteList.query,
    docs: {
      title: 'List credit notes',
      summary: 'List credit notes, newest first',
      response: creditNoteResponse,
    },
    handler: listCreditNotes,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getCreditNote',
    scope: 'credit-notes:read',
    missing: 'Credit note not found',
    docs: {
      summary: 'Get a credit note',
      response: creditNoteResponse,
    },
    read: readCreditNote,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/allocations`,
    operation: 'allocateCreditNote',
    scope: 'credit-notes:write',
    body: creditAllocation,
    missing,
    docs: {
      title: 'Allocate a credit note',
      summary: 'Pay another invoice of the client from what is left of a credit note',
      missingReference: missingInvoice,
      response: creditNoteResponse,
      conflict: appError('allocation_exceeds_due', { amount: '350.00', number: 'INV-0042', due: '335.00' }),
    },
    handler: postAllocation,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/release`,
    operation: 'releaseCreditNote',
    scope: 'credit-notes:write',
    body: creditRelease,
    missing,
    docs: {
      title: 'Release a credit note',
      summary: 'Make an allocation to another invoice credit again, or all of them; the invoices are due again',
      status: 200,
      response: creditNoteResponse,
      conflict: appError('allocation_released'),
    },
    handler: postRelease,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/refunds`,
    operation: 'refundCreditNote',
    scope: 'credit-notes:write',
    alsoNeeds: { 'payments:write': ALWAYS },
    body: creditRefund,
    missing,
    docs: {
      title: 'Refund a credit note',
      summary: 'Book money that went back from what is left of a credit note',
      response: creditNoteResponse,
      conflict: appError('refund_exceeds_credit', { amount: '120.00', left: '100.00', number: 'CRN-0001' }),
    },
    handler: postRefund,
  }),
];

async function creditInvoice({ id, body, commit, requireScope }: Context<CreditNoteBody, DryRun>) {
  if (body.settle === 'refund') requireScope('payments:write');
  return commit(async (unit) => {
    const given = { ...body, line_items: storedLines(body.line_items) };
    const known = await findKnownCreditNote(unit, id, given);
    if (known) return replayed(creditNoteView(known));
    const drawn = await drawCreditNote(unit, id, given);
    await announceCredited(unit, drawn);
    return created(creditNoteView(drawn.note));
  });
}

async function listCreditNotes({ caller, query }: Context<unknown, ListQuery>) {
  return creditNoteList.respond({ caller, query }, (records) => records.map(creditNoteView));
}

async function readCreditNote({ caller, id, session }: Reading) {
  const note = await findOwn(CreditNote, caller.accountId, id, session);
  return note && creditNoteView(note);
}

async function postAllocation(context: Context<{ invoice_id: Id; amount?: number }>) {
  const { body } = context;
  return withCreditNote(context, async (unit, note) =>
    created(creditNoteView(await allocateCreditNote(unit, note, body))),
  );
}

async function postRelease(context: Context<{ allocation_id?: Id }>) {
  const { allocation_id } = context.body;
  return withCreditNote(context, async (unit, note) =>
    updated(creditNoteView(await releaseCreditNote(unit, note, allocation_id))),
  );
}

async function postRefund(context: Context<CreditRefundBody>) {
  return withCreditNote(context, async (unit, given) => {
    const { note, isKnown } = await refundCreditNote(unit, given, context.body);
    const view = creditNoteView(note);
    return isKnown ? replayed(view) : created(view);
  });
}

/** Runs an operation on the credit note of the path. */
function withCreditNote(
  { commit, requireRecord }: Pick<Context, 'commit' | 'requireRecord'>,
  work: (unit: UnitOfWork, note: CreditNoteRecord) => Promise<JsonResponse>,
): Promise<JsonResponse> {
  return commit(async (unit) => {
    const note = await requireRecord(CreditNote, unit.session);
    return work(unit, note);
  });
}
