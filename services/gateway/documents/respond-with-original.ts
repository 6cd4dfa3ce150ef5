// Responds with the original of an issued document, or with 304 when the caller has it.
import type { IssuedDocument } from '#libs/documents/find-document.ts';
import type { Context } from '../http/route.ts';
import { originalPdf } from '../printing/original-pdf.ts';
import { digestHeader, isAnsweredWithoutBytes, REVALIDATED, sendPdf } from '../printing/send-pdf.ts';

/** @throws the operation's 404 when the client of the document is gone. */
export async function respondWithOriginal(context: Context, issued: IssuedDocument): Promise<undefined> {
  // The content names the original: its bytes are the same for ever.
  const tag = `"${issued.content}"`;
  const headers = { ETag: tag, 'Cache-Control': REVALIDATED };
  if (isAnsweredWithoutBytes(context, issued.number, { tag, headers })) return undefined;
  const original = await originalPdf(context, issued);
  if (!original) throw context.missing();
  const { sha256 } = original;
  sendPdf(context, issued.number, original, sha256 ? { ...headers, ...digestHeader(sha256) } : {});
  return undefined;
}
