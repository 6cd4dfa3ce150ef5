// Reads a JSON body within limits, and rejects shapes that are only sent to break something.
import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { appError } from '#libs/errors.ts';
import type { FairLimit } from '#libs/fair-limit.ts';
import type { Id } from '#libs/models/tenant.ts';
import { hasLongerValueThan, hasMoreValuesThan } from './count-values.ts';

/** No body of ours is deeper than five; recursion over a body then has a bound. */
const DEPTH_MAX = 32;
/** Names in all, and items in all. The fullest body, a document of 500 lines, has some 2,500; three megabytes could contain a million. */
export const VALUES_MAX = 10_000;
/** A value of 100,000 characters of three bytes, the longest text of a document. Only an image may be longer. */
export const VALUE_KIB_MAX = 300;
/** They would change the object itself instead of its content. */
const REJECTED_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

const OTHER_CHARSET = /;\s*charset\s*=\s*(?!"?utf-8"?\s*(?:;|$))/i;

/** The `type` of the error about a body that is no JSON, as the body parser names its own. */
export const NOT_JSON = 'entity.parse.failed';

/** The same of a body that is not UTF-8. */
export const NOT_UTF8 = 'encoding.not_utf8';

/** The `type` of the error about a value that is too long. */
export const TOO_LONG_VALUE = 'entity.too.long.value';

/** The `type` of the error about a body of too many values. */
export const TOO_MANY_VALUES = 'entity.too.many.values';

const BYTE_ORDER_MARK = Buffer.from('\u{feff}');
const lengths = new WeakMap<object, number>();

/** How many bytes of a body were read. */
export function bodyBytesOf(request: Request): number {
  return lengths.get(request) ?? 0;
}

type ReadJson = (request: Request, response: Response, share?: BodyShare) => Promise<unknown>;

/** Parsing and checking a smaller one takes well under a millisecond. */
const LARGE_BYTES = 16 * 1024;

/** The share of large bodies. Without it, bodies are read and parsed as they come. */
interface BodyShare {
  /** Fair share between accounts that send large bodies. */
  limit: FairLimit;
  accountId: Id;
}

/** @param limit bytes a body has at most. @param longest bytes of a value that is no image. @returns what reads a body: the parsed value, or undefined when there is none. */
export function jsonReader(limit: number, longest = VALUE_KIB_MAX * 1024): ReadJson {
  // Compressed bodies are rejected: a few bytes could become gigabytes.
  const read = express.raw({ limit, inflate: false, type: 'application/json' });
  return async (request, response, share) => {
    const { headers } = request;
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (!hasBody) return undefined;
    if (!request.is('application/json')) throw appError('content_type_not_json');
    // JSON is UTF-8 (RFC 8259, 8.1).
    if (OTHER_CHARSET.test(headers['content-type'] ?? '')) {
      throw appError('encoding_not_supported');
    }
    const bytes = await bytesOf(read, request, response);
    lengths.set(request, bytes.length);
    if (share && bytes.length >= LARGE_BYTES) await acquireBodySlot(share);
    request.body = parse(bytes, longest);
    requireSane(request.body);
    return request.body;
  };
}

/** @returns what reads a body of another media type, whole and as it is. */
export function rawReader({ type, limitBytes }: { type: string; limitBytes: number }) {
  const read = express.raw({ limit: limitBytes, inflate: false, type });
  return (request: Request, response: Response) => bytesOf(read, request, response);
}

async function bytesOf(read: RequestHandler, request: Request, response: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    void read(request, response, (error?: unknown) => (error ? reject(error) : resolve()));
  });
  // The parser leaves it out when the connection ended before.
  if (!Buffer.isBuffer(request.body)) throw appError('caller_gone');
  return request.body;
}

/** Milliseconds for other requests after each millisecond that a large body took. */
const PAUSE_FACTOR = 2;

/**
 * One large body at a time, with a pause after it for everything else: when dozens come together, no other request waits for all of them.
 * The slot is held as long as nothing has to be waited for, which is until the handler asks a store.
 */
async function acquireBodySlot({ limit, accountId }: BodyShare): Promise<void> {
  const release = await limit.acquire(accountId);
  const startedAt = performance.now();
  // The time is taken before the event loop turns to other requests, whose time must not count.
  process.nextTick(() => setTimeout(release, PAUSE_FACTOR * (performance.now() - startedAt)));
}

function parse(bytes: Buffer, longest: number): unknown {
  // Decoded, the wrong bytes become U+FFFD: a mangled name would be stored, and printed on an invoice that can no longer change.
  if (!isUtf8(bytes)) throw Object.assign(new Error('The body is not UTF-8'), { type: NOT_UTF8 });
  // The count ends early in a body of too many values, in which the search for a long one would look at each.
  if (hasMoreValuesThan(bytes, VALUES_MAX))
    throw Object.assign(new Error('The body has too many values'), { type: TOO_MANY_VALUES });
  if (bytes.length > longest && hasLongerValueThan(bytes, longest)) {
    throw Object.assign(new Error('A value is too long'), { type: TOO_LONG_VALUE });
  }
  // Chunks that hold nothing.
  if (bytes.length === 0) return {};
  try {
    const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    return JSON.parse(bytes.toString('utf8', hasMark ? BYTE_ORDER_MARK.length : 0));
  } catch (error) {
    throw Object.assign(error as SyntaxError, { type: NOT_JSON });
  }
}

function requireSane(body: unknown) {
  // A list instead of recursion: ten thousand levels must not end in a stack overflow.
  let level = [body].filter(isCompound);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) throw appError('body_too_deep');
    const next: object[] = [];
    for (const value of level) {
      const isList = Array.isArray(value);
      const names = isList ? [] : Object.keys(value);
      const rejected = names.find((name) => REJECTED_NAMES.has(name));
      if (rejected !== undefined) throw appError('body_name_rejected', { name: rejected });
      for (const inner of isList ? value : Object.values(value)) if (isCompound(inner)) next.push(inner);
    }
    level = next;
  }
}

function isCompound(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}
