// The PDF tool: an invoice or quote from the data in the request.
import type { Response } from 'express';
import { AppError } from '#libs/errors.ts';
import { PDF_BODY_BYTES_MAX, type PdfDocument, pdfDocument } from '#libs/jobs/pdf-document.ts';
import { printerOf } from '../http/print-document.ts';
import { type Context, type Route, route } from '../http/route.ts';
import { sendPdf } from '../http/send-pdf.ts';

export const pdfToolRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/tools/generate-pdf',
    operation: 'generatePdf',
    summary: 'Render an invoice or quote from the supplied data',
    description:
      'Nothing is stored. An image that cannot be had does not stop the document: it is rendered without it, and ' +
      '`X-Document-Warnings` names the field and the reason. The total printed is `amount` as given.',
    scope: 'documents:write',
    body: pdfDocument,
    bodyLimitBytes: PDF_BODY_BYTES_MAX,
    produces: 'application/pdf',
    handler: generatePdf,
  }),
];

async function generatePdf({ body: document, caller, request, requestId, response }: Context<PdfDocument>) {
  const { accountId } = caller;
  const gone = whenGone(response);
  const reply = await printerOf(request)({ document, accountId, requestId, signal: gone });
  sendPdf(response, document.number, reply);
  return undefined;
}

// Nobody reads this answer; its status keeps it out of the failures in the log.
function callerGone() {
  return new AppError(499, 'The caller has gone');
}

/** Aborted when the connection ends before the answer did. */
function whenGone(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(callerGone());
  });
  return controller.signal;
}
