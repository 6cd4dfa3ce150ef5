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
 * Answers a request for a PDF that needs no bytes: 304 when the caller has the file, and HEAD.
 * @param name as sendPdf takes it. @returns false when the file has to be sent.
 */
export function isAnsweredWithoutBytes(
  context: Pick<Context, 'request' | 'response'>,
  name: string,
  { tag, headers }: { tag: string; headers: Record<string, string> },
): boolean {
  if (isAnsweredUnchanged(context, tag, headers)) return true;
  if (context.request.method !== 'HEAD') return false;
  sendHead(context, { name, ...PDF }, headers);
  return true;
}

/** Answers HEAD of a file that is not made for it: with its name and type, without its length. */
export function sendHead(
  { response }: Pick<Context, 'response'>,
  { name, end, type }: NamedFile,
  headers: Record<string, string>,
): void {
  nameFile(response, `${fileName(name)}${end}`);
  response.status(200).set({ 'Content-Type': type, ...headers });
  response.end();
}

/** A file with its name as a caller wrote it, the end of the name, and its media type. */
interface NamedFile {
  name: string;
  end: string;
  type: string;
}

const PDF = { end: '.pdf', type: 'application/pdf' };

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
  sendFile({ response, reserve }, { name, ...PDF }, { bytes, warnings }, headers);
}

/** Does the same with any file. */
export function sendFile(
  { response, reserve }: Pick<Context, 'response' | 'reserve'>,
  { name, end, type }: NamedFile,
  { bytes, warnings }: Reply,
  headers: Record<string, string> = {},
): void {
  reserve(bytes.length);
  nameFile(response, `${fileName(name)}${end}`);
  response.set({
    'Content-Type': type,
    'Content-Length': String(bytes.length),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(warnings.length > 0 ? { 'X-Document-Warnings': boundedWarnings(warnings).join('; ') } : {}),
    ...headers,
  });
  response.status(200).end(bytes);
}

/** Sets the name under which a client stores the file. */
function nameFile(response: Context['response'], name: string): void {
  response.attachment(name);
  // Express leaves plain names unquoted, which RFC 6266 allows and not every client reads.
  // Its own parameter alone: a name may contain `filename=`, too.
  const disposition = String(response.get('Content-Disposition')).replace(
    /^attachment; filename=([^";]+)/,
    'attachment; filename="$1"',
  );
  response.set('Content-Disposition', disposition);
}
