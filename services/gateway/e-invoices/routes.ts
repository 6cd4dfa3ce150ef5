// Issued invoices and credit notes as e-invoices in XML, what a document still lacks for one, and those of others as JSON.
import { findIssuedDocument } from '#libs/documents/find-document.ts';
import {
  type EInvoiceSource,
  eInvoiceFile,
  eInvoiceOf,
  eInvoiceVersion,
  findCreditNoteSource,
  findInvoiceSource,
  requireMakeable,
} from '#libs/documents/find-e-invoice.ts';
import { FORMAT_NAMES, type FormatName } from '#libs/e-invoice/formats.ts';
import { missingIn } from '#libs/e-invoice/missing.ts';
import { AppError, appError, type Problem, problemOf } from '#libs/errors.ts';
import type { Id } from '#libs/models/tenant.ts';
import { found, updated } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { whenGone } from '../printing/caller-gone.ts';
import { originalPdf } from '../printing/original-pdf.ts';
import { digestHeader, isAnsweredUnchanged, REVALIDATED, sendFile, sendHead } from '../printing/send-pdf.ts';
import { type FormatQuery, formatQuery, readiness, STANDARD_FORMAT } from './input.ts';
import { readFile } from './read-file.ts';
import { bytesOf, type FileToRead, fileToRead, READ_BODY_BYTES_MAX } from './read-input.ts';
import { receivedResponse } from './read-response.ts';

const description =
  'Made from the document as it was issued, with what its parties lacked then from the profile and the client of today. ' +
  'The first answer in each format is kept and given again, the same byte for byte. A 409 names everything that is missing ' +
  'at once. Factur-X, in Germany ZUGFeRD, is the original PDF of the document with its XML inside; with `e_invoice_pdf` of account or client the PDF stands in XML. Nothing is sent to the recipient or to a network.';

// A key that may read a record may read it as an e-invoice: no scope of its own.
export const eInvoiceRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/invoices/{id}/e-invoice',
    operation: 'getInvoiceAsXml',
    scope: 'invoices:read',
    query: formatQuery,
    missing: 'Invoice not found',
    produces: 'application/xml',
    alsoPrints: 'application/pdf',
    isStoredFile: true,
    docs: {
      title: 'Get an e-invoice',
      summary: 'Get an issued invoice as XRechnung, Peppol BIS Billing, Factur-X or EN 16931',
      description,
      conflict: appError('e_invoice_incomplete', { document: 'invoice', rules: 'XRechnung' }),
    },
    handler: sent(findInvoiceSource),
  }),
  route({
    method: 'get',
    path: '/api/v1/invoices/{id}/e-invoice/check',
    operation: 'checkEInvoice',
    scope: 'invoices:read',
    missing: 'Invoice not found',
    docs: {
      title: 'Check an e-invoice',
      summary: 'Get what an invoice lacks for each format of e-invoices',
      description: 'Of an invoice in any status, also a draft.',
      response: readiness,
    },
    handler: checkInvoice,
  }),
  route({
    method: 'get',
    path: '/api/v1/credit-notes/{id}/e-invoice',
    operation: 'getCreditNoteAsXml',
    scope: 'credit-notes:read',
    query: formatQuery,
    missing: 'Credit note not found',
    produces: 'application/xml',
    alsoPrints: 'application/pdf',
    isStoredFile: true,
    docs: {
      title: 'Get a credit note as e-invoice',
      summary: 'Get a credit note as XRechnung, Peppol BIS Billing, Factur-X or EN 16931',
      description,
      conflict: appError('e_invoice_incomplete', { document: 'credit_note', rules: 'XRechnung' }),
    },
    handler: sent(findCreditNoteSource),
  }),
  route({
    method: 'post',
    path: '/api/v1/e-invoices/read',
    operation: 'readEInvoice',
    scope: 'documents:read',
    body: fileToRead,
    bodyLimitBytes: READ_BODY_BYTES_MAX,
    valueLimitBytes: READ_BODY_BYTES_MAX,
    storesNothing: true,
    docs: {
      title: 'Read an e-invoice',
      summary: 'Get a received XRechnung, Peppol, Factur-X, ZUGFeRD or other EN 16931 invoice as JSON',
      description:
        'Nothing is stored, sent or fetched. Fields are as they stand in the file: nothing is recomputed or checked, so look at the sums ' +
        'before you pay. Of a PDF the XML in it is read, by its name or its relation to the pages. A document type, and with it every ' +
        'entity of its own, is 400; so are files that nest too deep, have too many elements, or take too much time or memory, and ' +
        'PDFs that are encrypted or have no e-invoice in them.',
      response: receivedResponse,
      status: 200,
    },
    handler: readReceived,
  }),
];

function sent(find: (accountId: Id, id: Id) => Promise<EInvoiceSource | undefined>) {
  return async (context: Context<unknown, FormatQuery>): Promise<undefined> => {
    const { caller, id, query, parts, missing } = context;
    const source = await find(caller.accountId, id);
    if (!source) throw missing();
    if (source.isDraft) throw appError('e_invoice_of_draft');
    const format = query.format ?? (await source.wishes()).format ?? STANDARD_FORMAT;
    const tag = `"${eInvoiceVersion(source, format).content}"`;
    const headers = { ETag: tag, 'Cache-Control': REVALIDATED };
    if (isAnsweredUnchanged(context, tag, headers)) return undefined;
    const { accountId } = caller;
    const file = { name: source.number, ...eInvoiceFile(format) };
    if (context.request.method === 'HEAD') {
      // The first answer is kept for good, so it is made for a caller that gets it.
      await requireMakeable(source, format, accountId);
      sendHead(context, file, headers);
      return undefined;
    }
    const original = await eInvoiceOf(source, format, {
      accountId,
      quotaBytes: parts.quotas?.records,
      async pdf() {
        const issued = await findIssuedDocument(source.kind, accountId, id);
        return issued && issued !== 'draft' ? originalPdf(context, issued) : undefined;
      },
    });
    if (!original) throw missing();
    const { sha256 } = original;
    sendFile(context, file, original, sha256 ? { ...headers, ...digestHeader(sha256) } : {});
    return undefined;
  };
}

async function checkInvoice({ caller, id, missing }: Context) {
  const source = await findInvoiceSource(caller.accountId, id);
  if (!source) throw missing();
  const problemsIn = await problemsOf(source);
  return found(
    Object.fromEntries(
      FORMAT_NAMES.map((name) => {
        const problems = problemsIn(name);
        return [name, { ready: problems.length === 0, problems: byField(problems) }];
      }),
    ),
  );
}

async function problemsOf(source: EInvoiceSource): Promise<(format: FormatName) => Problem[]> {
  try {
    const terms = await source.terms();
    return (format) => missingIn(terms, format);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'e_invoice_decimals') throw error;
    return () => [problemOf('currency', 'e_invoice_three_decimals')];
  }
}

async function readReceived({ body, caller, response }: Context<FileToRead>) {
  const { syntax, invoice, files } = await readFile(caller.accountId, bytesOf(body), whenGone(response));
  return updated({ syntax, ...invoice, files });
}

function byField(problems: readonly Problem[]): Record<string, string[]> {
  const fields = Object.groupBy(problems, ({ path }) => path.join('.'));
  return Object.fromEntries(
    Object.entries(fields).map(([field, all = []]) => [field, all.map(({ message }) => message)]),
  );
}
