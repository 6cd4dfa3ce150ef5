// Stored invoices and quotes as PDF.
import { Client, type ClientRecord } from '#libs/models/client.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/invoice.ts';
import { partiesOf } from '#libs/models/parties.ts';
import { Quote, type QuoteRecord } from '#libs/models/quote.ts';
import { findOwn } from '#libs/models/records.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { answerDocument } from './answer-document.ts';
import { type DocumentQuery, documentQuery, type QuoteDocumentQuery, quoteDocumentQuery } from './input.ts';
import { type Faces, invoiceDocument, quoteDocument } from './stored-document.ts';

const description =
  "Printed in the account's language from its profile, with issuer and client as they were when it was sent; a draft " +
  'is marked as one. The same content gives the same bytes, so `If-None-Match` answers 304 without printing. A logo ' +
  'that cannot be had is left out and named in `X-Document-Warnings`.';

// Who may read a record may read it as a document: no scope of its own.
export const documentRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/invoices/{id}/pdf',
    operation: 'printInvoice',
    summary: 'Get an invoice as PDF',
    description,
    scope: 'invoices:read',
    query: documentQuery,
    missing: 'Invoice not found',
    produces: 'application/pdf',
    handler: printInvoice,
  }),
  route({
    method: 'get',
    path: '/api/v1/quotes/{id}/pdf',
    operation: 'printQuote',
    summary: 'Get a quote as PDF',
    description,
    scope: 'quotes:read',
    query: quoteDocumentQuery,
    details: 'list',
    missing: 'Quote not found',
    produces: 'application/pdf',
    handler: printQuote,
  }),
];

async function printInvoice(context: Context<unknown, DocumentQuery>) {
  const { caller, id, query, missing } = context;
  const invoice = await findOwn(Invoice, caller.accountId, id);
  if (!invoice) throw missing();
  return answerDocument(context, invoiceDocument(invoice, await facesOf(invoice, context), query));
}

async function printQuote(context: Context<unknown, QuoteDocumentQuery>) {
  const { caller, id, query, missing } = context;
  const quote = await findOwn(Quote, caller.accountId, id);
  if (!quote) throw missing();
  return answerDocument(context, quoteDocument(quote, await facesOf(quote, context), query));
}

/** As they were when it was sent; before that, as they are now. */
async function facesOf(record: InvoiceRecord | QuoteRecord, { caller, missing }: Context): Promise<Faces> {
  const { accountId, account } = caller;
  const timeZone = account.time_zone;
  if (record.parties) return { parties: record.parties, timeZone };
  const client: ClientRecord | null = await findOwn(Client, accountId, record.client_id);
  // A client with documents cannot be deleted; a record restored from elsewhere may have lost it all the same.
  if (!client) throw missing();
  const { issued_on: _notIssued, ...parties } = partiesOf(account, client);
  return { parties, timeZone };
}
