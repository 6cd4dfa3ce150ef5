// Quotes over HTTP.

import { earlyPaymentFor } from '#libs/billing/documents/client-terms.ts';
import { drawDocument, newDocument } from '#libs/billing/documents/new-document.ts';
import { requirePrintableContent } from '#libs/billing/documents/printable-size.ts';
import { removeMessagesOfQuote } from '#libs/billing/messages/remove-messages.ts';
import { convertQuote } from '#libs/billing/quotes/convert-quote.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { appError } from '#libs/errors.ts';
import { removeQuestions } from '#libs/models/answers/question.ts';
import { removeEvidence } from '#libs/models/answers/quote-evidence.ts';
import { documentSearch } from '#libs/models/billing/document-search.ts';
import { expiryOf } from '#libs/models/billing/expiry.ts';
import { tombstoneNumber } from '#libs/models/billing/number-ledger.ts';
import { Quote, type QuoteRecord, quoteView } from '#libs/models/billing/quote.ts';
import { removeOriginals } from '#libs/models/documents/original.ts';
import { removeDocumentLinks } from '#libs/models/portal/document-link.ts';
import { findOwn, insertOwn, removeOwn } from '#libs/models/records.ts';
import { invoiceResponse } from '#libs/responses/invoice.ts';
import { quoteResponse } from '#libs/responses/quote.ts';
import { quoteMoney } from '#libs/rules/documents/document-money.ts';
import type { NewTaxTerms } from '#libs/rules/taxes/document-taxes.ts';
import { changedDates } from '../fields/dates-input.ts';
import { storedLines } from '../fields/money-input.ts';
import { givenReferences } from '../fields/references-input.ts';
import { givenTexts } from '../fields/texts-input.ts';
import { type DryRun, dryRun } from '../http/dry-run.ts';
import type { ListQuery } from '../http/list.ts';
import { created, deleted } from '../http/response.ts';
import { ALWAYS, type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { VALID_DAYS } from './change-quote.ts';
import { type ConversionInput, conversion, type NewQuote, newQuote, quoteChanges, quoteList } from './input.ts';
import { updateQuote } from './update-quote.ts';
import { viewOf, viewsOf } from './view.ts';

const path = '/api/v1/quotes';

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
      title: 'Create a quote',
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
      title: 'List quotes',
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
      title: 'Update a quote',
      summary: 'Update a quote, or set any status',
      response: quoteResponse,
      conflict: appError('quote_already_accepted', { fields: ['line_items'] }),
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
      title: 'Delete a quote',
      summary: 'Delete a draft; its number is never given again',
      message: 'Quote deleted',
      conflict: appError('quote_not_draft'),
    },
    handler: deleteQuote,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/convert`,
    operation: 'convertQuote',
    isPrinted: true,
    docs: {
      title: 'Convert a quote',
      summary: 'Create an invoice of a quote, or of a part of it',
      description:
        'A quote is converted once in full, or into deposits, progress invoices and one final invoice, whose nets add up to it. Taxes are rounded once for each document. A deleted draft or a cancelled invoice gives its part back.',
      response: invoiceResponse,
      warns: true,
      conflict: appError('quote_already_invoiced', { number: 'INV-0042' }),
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
      client_id,
      project_id: body.project_id,
      line_items,
      dates: changedDates(body, 'list'),
      status,
      description,
      tax_rate: body.tax_rate,
      currency: body.currency,
      moneyOf: (terms: NewTaxTerms, currency: string) =>
        quoteMoney({ currency, amount, ...terms, prices_include_tax, line_items, charges: body, issuer }),
    };
    const { fields, client, project } = await newDocument(unit, drawn, content, 'list');
    const quote: QuoteRecord = {
      ...fields,
      ...texts,
      ...givenReferences(body),
      ...expiryOf(status, expires_at),
      expires_at,
      // None is stored as well: the invoices of the quote have none then, whatever the client's are.
      early_payment_discounts: earlyPaymentFor(body.early_payment_discounts, client, issuer) ?? [],
    };
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

async function deleteQuote({ caller, commit, requireRecord }: Context) {
  return commit(async (unit) => {
    const { session, accountId, announce } = unit;
    const quote = await requireRecord(Quote, session);
    const view = await viewOf(quote, caller, { session });
    if (quote.status !== 'Draft') throw appError('quote_not_draft');
    if (view.invoices.length > 0) throw appError('quote_has_invoices');
    await removeOwn(Quote, quote, session);
    await removeDocumentLinks(accountId, { subject_id: quote._id }, session);
    await removeOriginals(accountId, quote._id, session);
    await removeEvidence(accountId, quote._id, session);
    await removeQuestions(accountId, quote._id, session);
    await removeMessagesOfQuote(unit, quote._id);
    await tombstoneNumber(session, accountId, quote._id);
    await announce('quote.deleted', view);
    return deleted('Quote deleted');
  });
}

async function postConversion({ caller, body, id, commit, missing }: Context<ConversionInput, DryRun>) {
  return commit(async (unit) => {
    const wanted = { ...body, charges: body, texts: givenTexts(body) };
    const { quote, view, isAccepted } = await convertQuote(unit, { id, wanted, missing });
    const quoted = await viewOf(quote, caller, { session: unit.session });
    await unit.announce('quote.updated', quoted);
    if (isAccepted) await unit.announce('quote.accepted', quoted);
    await unit.announce('quote.converted', quoted);
    return created(view);
  });
}
