// Sends a PDF or another file: whole or not at all.
import type { Reply } from '#libs/jobs/replies.ts';
import { boundedWarnings } from '#libs/printing/bounded-warnings.ts';
import { fileName, requireWholePdf } from '#libs/printing/pdf-file.ts';
import { isKnown } from '../http/entity-tag.ts';
import type { Context } from '../http/route.ts';

/** Answers 304 when the caller has the file. @returns false when it has to be sent. */
export function isAnsweredUnchanged(
  { request, response }: Pick<Context, 'request' | 'response'>,
  tag: string,
  headers: Record<string, string>,
): boolean {
  if (!isKnown(request, tag)) return false;
  response.status(304).set(headers).end();
  return true;
}

/**
 * Answers a request that needs no bytes: 304 when the caller has the file, and HEAD.
 * @returns false when the file has to be sent.
 */
export function isAnsweredWithoutBytes(
  context: Pick<Context, 'request' | 'response'>,
  tag: string,
  headers: Record<string, string>,
): boolean {
  if (isAnsweredUnchanged(context, tag, headers)) return true;
  if (context.request.method !== 'HEAD') return false;
  context.response.status(200).set(headers).set('Content-Type', 'application/pdf').end();
  return true;
}

/** Returns the digest of a kept file as a header (RFC 9530). @param sha256 in hex. */
export function digestHeader(sha256: string) {
  return { 'Repr-Digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:` };
}

/** `Cache-Control` of a file that the caller may keep but must revalidate: it may have changed, or be gone. */
export const REVALIDATED = 'private, no-cache';

/**
 * @param name what the file is to be called, as a caller wrote it. @param headers instead of the usual ones.
 * @throws Error when the bytes are not a whole PDF; AppError when too many bytes of responses wait to be read.
 */
export function sendPdf(
  { response, reserve }: Pick<Context, 'response' | 'reserve'>,
  name: string,
  { bytes, warnings }: Reply,
  headers: Record<string, string> = {},
): void {
  requireWholePdf(bytes);
  sendFile({ response, reserve }, { name, end: '.pdf', type: 'application/pdf' }, { bytes, warnings }, headers);
}

/** Does the same with any file. @param file its name as a caller wrote it, the end of the name, and its media type. */
export function sendFile(
  { response, reserve }: Pick<Context, 'response' | 'reserve'>,
  { name, end, type }: { name: string; end: string; type: string },
  { bytes, warnings }: Reply,
  headers: Record<string, string> = {},
): void {
  reserve(bytes.length);
  response.attachment(`${fileName(name)}${end}`);
  // Express leaves plain names unquoted, which RFC 6266 allows and not every client reads.
  // Its own parameter alone: a name may contain `filename=`, too.
  const disposition = String(response.get('Content-Disposition')).replace(
    /^attachment; filename=([^";]+)/,
    'attachment; filename="$1"',
  );
  response.set({
    'Content-Disposition': disposition,
    'Content-Type': type,
    'Content-Length': String(bytes.length),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(warnings.length > 0 ? { 'X-Document-Warnings': boundedWarnings(warnings).join('; ') } : {}),
    ...headers,
  });
  response.status(200).end(bytes);
}
