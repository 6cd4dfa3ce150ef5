// Responds with a stored document: prints it, or returns 304 without printing when the caller has it.
import { hash } from 'node:crypto';
import { isWithoutLogo } from '#libs/documents/original-of.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { release } from '#libs/service/release.ts';
import type { Context } from '../http/route.ts';
import { whenGone } from './caller-gone.ts';
import { isAnsweredWithoutBytes, REVALIDATED, sendPdf } from './send-pdf.ts';

type Asked = Pick<Context, 'caller' | 'parts' | 'request' | 'requestId' | 'response' | 'reserve'>;

export async function respondWithDocument(asked: Asked, document: PrintableDocument): Promise<undefined> {
  const { caller, parts, requestId, response } = asked;
  const tag = documentTag(document);
  // An image on another host may change at any time. The tag is then weak: it stands for the same content, not for the same bytes.
  const isOurs = !document.logoUrl || /^data:/i.test(document.logoUrl);
  const headers = { ETag: isOurs ? tag : `W/${tag}`, 'Cache-Control': REVALIDATED };
  if (isAnsweredWithoutBytes(asked, document.number, { tag, headers })) return undefined;
  const { accountId } = caller;
  const signal = whenGone(response);
  signal.throwIfAborted();
  const reply = await parts.print({ document, accountId, requestId, signal });
  // A print that lacks the logo gets no tag, so that a caller does not take it for the document later.
  sendPdf(asked, document.number, reply, isWithoutLogo(reply.warnings) ? {} : headers);
  return undefined;
}

/** Returns the ETag: a hash over all that is printed and the release that prints it. */
function documentTag(document: PrintableDocument): string {
  return `"${hash('sha1', `${release()}\n${JSON.stringify(document)}`, 'base64url')}"`;
}
