// The PDF tool: an invoice or quote from the data in the request.
import { PDF_BODY_BYTES_MAX, type PdfDocument, pdfDocument } from '#libs/jobs/pdf-document.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { whenGone } from '../printing/caller-gone.ts';
import { sendPdf } from '../printing/send-pdf.ts';

const example = {
  title: 'Invoice',
  number: 'INV-0042',
  date: '2026-11-02',
  dueDate: '2026-12-02',
  clientName: 'Ada Lovelace',
  clientEmail: 'ada@example.com',
  partnerName: 'Studio North',
  partnerEmail: 'hello@north.example',
  amount: 1356.6,
  taxRate: 19,
  currencySymbol: '€',
  lineItems: [{ description: 'Drawings', qty: 12, rate: '95' }],
};

export const pdfToolRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/tools/generate-pdf',
    operation: 'generatePdf',
    scope: 'documents:write',
    body: pdfDocument.example(example),
    bodyLimitBytes: PDF_BODY_BYTES_MAX,
    ignoresNestedNames: true,
    produces: 'application/pdf',
    storesNothing: true,
    docs: {
      title: 'Print a document from data',
      summary: 'Render an invoice or quote from the supplied data',
      description:
        'Nothing is stored. An image that cannot be loaded does not stop the document: it is rendered without it, and ' +
        '`X-Document-Warnings` names the field and the reason. The total printed is `amount` as given. ' +
        'With the key of a test account the document is marked TEST.',
    },
    handler: generatePdf,
  }),
];

async function generatePdf(context: Context<PdfDocument>) {
  const { body, caller, ignored, parts, requestId, response } = context;
  const { accountId, account } = caller;
  const document = account.mode === 'test' ? { ...body, isTest: true } : body;
  const gone = whenGone(response);
  const reply = await parts.print({ document, accountId, requestId, signal: gone });
  const warnings = [...reply.warnings, ...ignored.map((name) => `${inHeader(name)}: unknown`)];
  sendPdf(context, document.number, { ...reply, warnings });
  return undefined;
}

/** Visible ASCII without the separators of warnings. */
function inHeader(name: string): string {
  return name.replaceAll(/[^!-9<-~]/g, '?');
}
