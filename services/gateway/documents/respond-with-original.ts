// Responds with the original of an issued document, or with 304 when the caller has it.
import { hash } from 'node:crypto';
import type { IssuedDocument } from '#libs/documents/find-document.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { isKnown } from '../http/entity-tag.ts';
import type { Context } from '../http/route.ts';
import { whenGone } from '../printing/caller-gone.ts';
import { REVALIDATED, sendPdf } from '../printing/send-pdf.ts';
import { originalOf } from './print-original.ts';

/** @throws the operation's 404 when the client of the document is gone. */
export async function respondWithOriginal(context: Context, issued: IssuedDocument): Promise<undefined> {
  const { caller, parts, request, requestId, response, missing } = context;
  const { accountId } = caller;
  // The content names the original: its bytes are the same for ever.
  const tag = `"${issued.content}"`;
  const headers = { ETag: tag, 'Cache-Control': REVALIDATED };
  if (isKnown(request, tag)) {
    response.status(304).set(headers).end();
    return undefined;
  }
  if (request.method === 'HEAD') {
    response
      .status(200)
      .set({ ...headers, 'Content-Type': 'application/pdf' })
      .end();
    return undefined;
  }
  const signal = whenGone(response);
  signal.throwIfAborted();
  const original = await originalOf(issued, {
    accountId,
    document: async () => issued.document(await readAccount(accountId)),
    print: (document) => parts.print({ document, accountId, requestId, signal }),
    quotaBytes: parts.quotas?.records,
  });
  if (!original) throw missing();
  const digest = { 'Repr-Digest': `sha-256=:${hash('sha256', original.bytes, 'base64')}:` };
  sendPdf(context, issued.number, original, original.isKept ? { ...headers, ...digest } : {});
  return undefined;
}
