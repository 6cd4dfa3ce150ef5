// Quotes over HTTP.

import { changedTaxTerms, isTaxed, requireTaxpayers } from '#libs/billing/documents/changed-tax-terms.ts';
import { issuedFields } from '#libs/billing/documents/issue-document.ts';
import { drawDocument, newDocument } from '#libs/billing/documents/new-document.ts';
import { requirePrintableContent } from '#libs/billing/documents/printable-size.ts';
import { changedReferences, requireReferences } from '#libs/billing/documents/project-of-client.ts';
import { type Conversion, convertQuote, requireBilledKept } from '#libs/billing/quotes/convert-quote.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { conflict } from '#libs/errors.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { documentSearch } from '#libs/models/billing/document-search.ts';
import { embeddedIn } from '#libs/models/billing/embedded.ts';
import { expiryOf, isDayToWatch, isUnannounced, statusToStore } from '#libs/models/billing/expiry.ts';
import { tombstoneNumber } from '#libs/models/billing/number-ledger.ts';
import {
  effectiveQuoteStatus,
  Quote,
  type QuoteRecord,
  type QuoteStatus,
  quoteView,
} from '#libs/models/billing/quote.ts';
import { changedFields, changeOwn, findOwn, insertOwn, isUnchanged, removeOwn } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { EventType } from '#libs/models/webhooks/event-types.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { quoteMoney } from '#libs/rules/documents/document-money.ts';
import { changedAcceptance } from '#libs/rules/quotes/acceptance.ts';
import type { NewTaxTerms } from '#libs/rules/taxes/document-taxes.ts';
import { changedDates } from '../fields/dates-input.ts';
import { invoiceResponse } from '../fields/invoice-response.ts';
import { storedLines } from '../fields/money-input.ts';
import { givenTexts, isPrintedTextIn } from '../fields/texts-input.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted, updated } from '../http/response.ts';
import { ALWAYS, type Context, type Profile, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { changedMoney, requireChangeable } from './change-quote.ts';
import {
  conversion,
  type GivenChanges,
  type NewQuote,
  newQuote,
  type QuoteChanges,
  quoteChanges,
  quoteList,
} from './input.ts';
import { quoteResponse } from './response.ts';

const path = '/api/v1/quotes';
const VALID_DAYS = 30;

export const quoteRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createQuote',
    isPrinted: true,
    scope: 'quotes:write',
    query: dryRun,
    body: newQuote,
    details: 'list',
    docs: {
      summary: 'Create a quote and draw its number',
      response: quoteResponse,
      missingReference: 'Client not found or access denied',
    },
    handler: createQuote,
  }),
  route({
    method: 'get',
    path,
    operation: 'listQuotes',
    scope: 'quotes:read',
    query: quoteList.query,
    details: 'list',
    docs: {
      summary: 'List quotes, newest first',
      response: quoteResponse,
    },
    handler: listQuotes,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getQuote',
    scope: 'quotes:read',
    missing: 'Quote not found',
    docs: {
      summary: 'Get a quote',
      response: quoteResponse,
    },
    read: readQuote,
  }),
  route({
    method: 'patch',
    path: `${path}/{id}`,
    operation: 'updateQuote',
    isPrinted: true,
    scope: 'quotes:write',
    body: quoteChanges,
    details: 'list',
    missing: 'Quote not found or access denied',
    docs: {
      summary: 'Update a quote, or set any status',
      response: quoteResponse,
      conflict: 'Cannot change line_items of an accepted quote',
      missingReference: 'Client not found or access denied',
    },
    handler: updateQuote,
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteQuote',
    scope: 'quotes:write',
    missing: 'Quote not found or access denied',
    docs: {
      summary: 'Delete a draft; its number is never given again',
      message: 'Quote deleted',
      conflict: 'Can only delete quotes with Draft status',
    },
    handler: deleteQuote,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/convert`,
    operation: 'convertQuote',
    docs: {
      summary: 'Create an invoice of a quote, or of a part of it',
      description:
        'A quote is converted once in full, or into deposits, progress invoices and one final invoice, whose nets add up to it. Taxes are rounded once for each document. A deleted draft or a cancelled invoice gives its part back.',
      response: invoiceResponse,
      conflict: 'Quote was already converted to INV-0042',
    },
    scope: 'quotes:write',
    alsoNeeds: { 'invoices:write': ALWAYS },
    query: dryRun,
    body: conversion,
    details: 'list',
    missing: 'Quote not found or access denied',
    handler: postConversion,
  }),
];

/** What a change of status is called. */
const EVENT_OF: Partial<Record<QuoteStatus, EventType>> = {
  Sent: 'quote.sent',
  Accepted: 'quote.accepted',
  Declined: 'quote.declined',
  Expired: 'quote.expired',
};

async function createQuote({ body, commit }: Context<NewQuote, DryRun>) {
  const { amount, status, client_id, prices_include_tax } = body;
  const description = body.description || null;
  const texts = givenTexts(body);
  return commit(async (unit) => {
    const line_items = storedLines(body.line_items);
    requirePrintableContent({ line_items, description, ...texts });
    const { session, announce } = unit;
    const drawn = await drawDocument(unit, 'quote', body.issue_date);
    const issuer = drawn.account;
    const expires_at = body.expires_at ?? addDays(dayIn(issuer.time_zone), VALID_DAYS);
    const content = {
      ...{ client_id, project_id: body.project_id, line_items, dates: changedDates(body, 'list'), status, description },
      tax_rate: body.tax_rate,
      currency: body.currency,
      moneyOf: (terms: NewTaxTerms, currency: string) =>
        quoteMoney({ currency, amount, ...terms, prices_include_tax, line_items, charges: body, issuer }),
    };
    const { fields, client, project } = await newDocument(unit, drawn, content, 'list');
    const quote: QuoteRecord = { ...fields, ...texts, ...expiryOf(status, expires_at), expires_at };
    quote.search = documentSearch(quote);
    await insertOwn(Quote, quote, session);
    const view = quoteView(quote, { client, project, status });
    await announce('quote.created', view);
    if (status === 'Sent') await announce('quote.sent', view);
    return created(view);
  });
}

async function listQuotes({ caller, query }: Context<unknown, ListQuery>) {
  const today = dayIn(caller.account.time_zone);
  return quoteList.respond({ caller, query }, (records) => viewsOf(records, caller.accountId, today));
}

async function readQuote({ caller, id, session }: Reading) {
  const quote = await findOwn(Quote, caller.accountId, id, session);
  return quote && viewOf(quote, caller, { session });
}

async function updateQuote({ caller, body: given, commit, requireRecord }: Context<QuoteChanges>) {
  return commit(async (transaction) => {
    const { session, announce } = transaction;
    const quote = await requireRecord(Quote, session);
    const today = dayIn(caller.account.time_zone);
    const before = effectiveQuoteStatus(quote, today);
    const body = await withStandards(quote, given, transaction);
    const isMoved =
      body.status !== undefined && (body.status !== before || isUnannounced(quote, body.status, 'Expired'));
    const changes = await changesOf(quote, body, { isMoved, before, today }, transaction);
    await requireBilledKept(transaction, quote, { next: changes, changed: changedFields(quote, changes) });
    if (isMoved) Object.assign(changes, changedAcceptance({ ...quote, ...changes }, before, body.status));
    changes.search = documentSearch({ ...quote, ...changes });
    if (!isMoved && isUnchanged(quote, changes)) return updated(await viewOf(quote, caller, { session }));
    const changed = await changeOwn(Quote, quote, changes, session);
    // The response shows the status that was set, even when the last day has passed already; the next read says Expired.
    const view = await viewOf(changed, caller, { session, status: body.status });
    await announce('quote.updated', view);
    const event = isMoved && body.status && EVENT_OF[body.status];
    if (event) await announce(event, view);
    return updated(view);
  });
}

async function deleteQuote({ caller, commit, requireRecord }: Context) {
  return commit(async ({ session, accountId, announce }) => {
    const quote = await requireRecord(Quote, session);
    const view = await viewOf(quote, caller, { session });
    if (quote.status !== 'Draft') throw conflict('Can only delete quotes with Draft status');
    if (view.invoices.length > 0) throw conflict('Cannot delete a quote with invoices');
    await removeOwn(Quote, quote, session);
    await tombstoneNumber(session, accountId, quote._id);
    await announce('quote.deleted', view);
    return deleted('Quote deleted');
  });
}

async function postConversion({ caller, body, id, commit, missing }: Context<Conversion, DryRun>) {
  return commit(async (unit) => {
    const { quote, view, isAccepted } = await convertQuote(unit, { id, wanted: body, missing });
    const quoted = await viewOf(quote, caller, { session: unit.session });
    await unit.announce('quote.updated', quoted);
    if (isAccepted) await unit.announce('quote.accepted', quoted);
    await unit.announce('quote.converted', quoted);
    return created(view);
  });
}

/** A last day of null is that of a new quote. */
async function withStandards(
  quote: QuoteRecord,
  given: QuoteChanges,
  { session, accountId }: UnitOfWork,
): Promise<GivenChanges> {
  if (given.expires_at !== null) return given as GivenChanges;
  const { time_zone } = await readAccount(accountId, session);
  return { ...given, expires_at: addDays(dayIn(time_zone, quote.created_at), VALID_DAYS) };
}

async function changesOf(
  quote: QuoteRecord,
  body: GivenChanges,
  { isMoved, before, today }: { isMoved: boolean; before: QuoteStatus; today: string },
  { session, accountId }: UnitOfWork,
): Promise<Partial<QuoteRecord>> {
  const unit = { session, accountId };
  const content: Partial<QuoteRecord> = {
    ...changedMoney(quote, body, isTaxed(body) ? await changedTaxTerms(unit, quote, body) : undefined),
    ...changedDates(body, 'list'),
    ...changedReferences(body),
    ...(body.description === undefined ? {} : { description: body.description || null }),
    ...givenTexts(body),
  };
  requireChangeable(quote, content, before);
  if (isPrintedTextIn(content)) requirePrintableContent({ ...quote, ...content });
  await requireReferences({ document: quote, next: content, accountId, session, details: 'list' });
  if (isTaxed(body)) await requireTaxpayers(unit, { ...quote, ...content }, 'list');
  const expires_at = body.expires_at ?? quote.expires_at;
  const looks = effectiveQuoteStatus({ ...quote, expires_at }, today);
  const status = statusToStore({ stored: quote.status, looks }, body.status);
  const changes: Partial<QuoteRecord> = { ...content, status, expires_at };
  // Otherwise it stays as the scheduler left it: what was announced is not announced again, also for another day that has passed.
  const isWatched =
    isMoved || isDayToWatch({ expires_on: quote.expires_on, lastDay: quote.expires_at }, expires_at, today);
  if (isWatched) Object.assign(changes, expiryOf(body.status ?? status, expires_at));
  // Nothing is frozen on a draft, even one that was sent before: it is issued again.
  if (status === 'Draft' && quote.parties)
    Object.assign(changes, { parties: undefined, issue_date: content.issue_date });
  const isIssued = status !== 'Draft' && !quote.parties;
  const issuing = { kind: 'quote', isIssued, accountId, session, details: 'list' } as const;
  Object.assign(changes, await issuedFields(quote, content, issuing));
  return changes;
}

/** @param status shown instead of the status of today. */
async function viewOf(
  quote: QuoteRecord,
  { accountId, account }: { accountId: Id; account: Profile },
  { session, status }: { session?: Session | undefined; status?: QuoteStatus | undefined } = {},
) {
  const today = dayIn(account.time_zone);
  const embedded = await embeddedIn([quote], accountId, session);
  return quoteView(quote, { ...embedded(quote), status: status ?? effectiveQuoteStatus(quote, today) });
}

async function viewsOf(quotes: QuoteRecord[], accountId: Id, today: string) {
  const embedded = await embeddedIn(quotes, accountId);
  return quotes.map((quote) => quoteView(quote, { ...embedded(quote), status: effectiveQuoteStatus(quote, today) }));
}
