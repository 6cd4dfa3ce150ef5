// Responds with the original of an issued document, or with 304 when the caller has it.
import type { IssuedDocument } from '#libs/documents/find-document.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { requireWholePdf } from '#libs/printing/pdf-file.ts';
import type { Context } from '../http/route.ts';
import { whenGone } from '../printing/caller-gone.ts';
import { digestHeader, isAnsweredWithoutBytes, REVALIDATED, sendPdf } from '../printing/send-pdf.ts';

/** @throws the operation's 404 when the client of the document is gone. */
export async function respondWithOriginal(context: Context, issued: IssuedDocument): Promise<undefined> {
  const { caller, parts, requestId, response, missing } = context;
  const { accountId } = caller;
  // The content names the original: its bytes are the same for ever.
  const tag = `"${issued.content}"`;
  const headers = { ETag: tag, 'Cache-Control': REVALIDATED };
  if (isAnsweredWithoutBytes(context, tag, headers)) return undefined;
  const signal = whenGone(response);
  signal.throwIfAborted();
  const original = await originalOf(issued, {
    accountId,
    async make() {
      const document = await issued.document(await readAccount(accountId));
      if (!document) return undefined;
      const pdf = await parts.print({ document, accountId, requestId, signal });
      requireWholePdf(pdf.bytes);
      return pdf;
    },
    quotaBytes: parts.quotas?.records,
  });
  if (!original) throw missing();
  const { sha256 } = original;
  sendPdf(context, issued.number, original, sha256 ? { ...headers, ...digestHeader(sha256) } : {});
  return undefined;
}
