// Stored invoices, quotes, receipts and credit notes as PDF.

import {
  findCreditNote,
  findInvoiceDocument,
  findIssuedDocument,
  findQuoteDocument,
  findReceipt,
  type Issuing,
} from '#libs/documents/find-document.ts';
import { type DocumentLooks, type InvoiceLooks, isStandardLook } from '#libs/documents/looks.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { NumberKind } from '#libs/rules/documents/number-kinds.ts';
import { type Caller, type Context, type Route, route } from '../http/route.ts';
import { respondWithDocument } from '../printing/respond-with-document.ts';
import { type CopyQuery, documentQuery, invoiceDocumentQuery, quoteDocumentQuery } from './input.ts';
import { respondWithOriginal } from './respond-with-original.ts';

const description =
  "Printed in the account's language from its profile, with issuer and client as they were when it was sent; a draft " +
  'is marked as one. An issued document is printed once in the standard look: its original is kept and is what every ' +
  'later request gets, the same byte for byte, with its SHA-256 in `Repr-Digest`. Other looks, and `copy=current`, are ' +
  'printed anew. The same content gives the same bytes, so `If-None-Match` gets 304 without printing. Of a logo behind ' +
  'a URL only the address is content: the tag of a copy is weak, and a picture that was replaced there is printed when ' +
  '`If-None-Match` is left out. A logo that cannot be loaded is left out and named in `X-Document-Warnings`; such a ' +
  'document is not kept as the original.';

// A key that may read a record may read it as a document: no scope of its own.
export const documentRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/invoices/{id}/pdf',
    operation: 'printInvoice',
    scope: 'invoices:read',
    alsoNeeds: { 'time-entries:read': '`time` is true' },
    query: invoiceDocumentQuery,
    missing: 'Invoice not found',
    produces: 'application/pdf',
    docs: {
      summary: 'Get an invoice as PDF',
      description,
    },
    handler: printInvoice,
  }),
  route({
    method: 'get',
    path: '/api/v1/quotes/{id}/pdf',
    operation: 'printQuote',
    scope: 'quotes:read',
    query: quoteDocumentQuery,
    details: 'list',
    missing: 'Quote not found',
    produces: 'application/pdf',
    docs: {
      summary: 'Get a quote as PDF',
      description: `${description} A copy of a quote that its client has accepted as it is now has the acceptance on a page of its own.`,
    },
    handler: printed('quote', findQuoteDocument),
  }),
  route({
    method: 'get',
    path: '/api/v1/payments/{id}/pdf',
    operation: 'printReceipt',
    scope: 'payments:read',
    query: documentQuery,
    missing: 'Payment not found',
    produces: 'application/pdf',
    docs: {
      title: 'Get a receipt as PDF',
      summary: 'Get the receipt of a payment as PDF',
      description,
    },
    handler: printed('payment', findReceipt),
  }),
  route({
    method: 'get',
    path: '/api/v1/credit-notes/{id}/pdf',
    operation: 'printCreditNote',
    scope: 'credit-notes:read',
    query: documentQuery,
    missing: 'Credit note not found',
    produces: 'application/pdf',
    docs: {
      summary: 'Get a credit note as PDF',
      description: `${description} Amounts have a minus.`,
    },
    handler: printed('credit_note', findCreditNote),
  }),
];

async function printInvoice(context: Context<unknown, InvoiceLooks & CopyQuery>) {
  if (context.query.time) context.requireScope('time-entries:read');
  return printed('invoice', findInvoiceDocument)(context);
}

function printed<Looks extends DocumentLooks>(
  kind: NumberKind,
  find: (by: Issuing, id: Id, looks: Looks) => Promise<PrintableDocument | undefined>,
) {
  return async (context: Context<unknown, Looks & CopyQuery>) => {
    const { copy, ...looks } = context.query;
    const isStandard = isStandardLook(looks as Looks);
    if (copy === 'issued' && !isStandard)
      throw fieldProblem('copy', 'standard_look_only', undefined, kind === 'quote' ? 'list' : undefined);
    if (isStandard && copy !== 'current') {
      const issued = await findIssuedDocument(kind, context.caller.accountId, context.id);
      if (!issued) throw context.missing();
      if (issued !== 'draft') return respondWithOriginal(context, issued);
      if (copy === 'issued') throw appError('draft_without_original');
    }
    const document = await find(await issuing(context.caller), context.id, looks as Looks);
    if (!document) throw context.missing();
    return respondWithDocument(context, document);
  };
}

/** Reads the profile past the cache, so that a change through another gateway is printed at once. */
async function issuing({ accountId }: Caller): Promise<Issuing> {
  return { accountId, account: await readAccount(accountId) };
}
