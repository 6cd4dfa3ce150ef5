// Sends the original of a document: the very file that mails carried.
import type { Response } from 'express';
import { findIssuedDocument } from '#libs/documents/find-document.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import { fileName, requireWholePdf } from '#libs/printing/pdf-file.ts';
import { type DocumentVisit, noSuchLink } from './visit.ts';

/** Sends the original. @throws AppError 503, 504 and 429 when it was never printed and cannot be now. */
export async function sendOriginal(visit: DocumentVisit, response: Response): Promise<void> {
  const { accountId, account, subject, link, parts } = visit;
  const issued = await findIssuedDocument(subject.type, accountId, subject.record._id);
  if (issued === undefined || issued === 'draft') throw noSuchLink();
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const original = await originalOf(issued, {
    accountId,
    quotaBytes: parts.quotaBytes,
    async make() {
      const document = await issued.document(account);
      if (!document) return undefined;
      const printed = await parts.print({ document, accountId, requestId: String(link._id), signal: gone.signal });
      requireWholePdf(printed.bytes);
      return printed;
    },
  });
  if (!original) throw noSuchLink();
  const name = `${fileName(issued.number)}.pdf`;
  response.attachment(name);
  const disposition = String(response.get('Content-Disposition')).replace(/^attachment/, 'inline');
  response.set({
    'Content-Disposition': disposition,
    'Content-Type': 'application/pdf',
    // The viewers of some browsers show nothing under the policy of pages.
    'Content-Security-Policy': "frame-ancestors 'none'; base-uri 'none'",
  });
  response.send(original.bytes);
}
