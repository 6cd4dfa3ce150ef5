// The original PDF of an issued document: kept since its first print, or printed and kept now.
import type { IssuedDocument } from '#libs/documents/find-document.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { requireWholePdf } from '#libs/printing/pdf-file.ts';
import type { Context } from '../http/route.ts';
import { whenGone } from './caller-gone.ts';

/** @returns undefined when the client of the document is gone. @throws as PrintDocument, and when the caller has gone. */
export function originalPdf(
  { caller, parts, requestId, response }: Pick<Context, 'caller' | 'parts' | 'requestId' | 'response'>,
  issued: IssuedDocument,
): ReturnType<typeof originalOf> {
  const { accountId } = caller;
  const signal = whenGone(response);
  return originalOf(issued, {
    accountId,
    async make() {
      signal.throwIfAborted();
      const document = await issued.document(await readAccount(accountId));
      if (!document) return undefined;
      const pdf = await parts.print({ document, accountId, requestId, signal });
      requireWholePdf(pdf.bytes);
      return pdf;
    },
    quotaBytes: parts.quotas?.records,
  });
}
