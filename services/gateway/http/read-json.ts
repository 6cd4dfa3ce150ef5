// Reads a JSON body within limits, and rejects shapes that are only sent to break something.
import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import { AppError } from '#libs/errors.ts';
import { hasMoreValuesThan } from './count-values.ts';

/** No body of ours is deeper than five; recursion over a body then has a bound. */
const DEPTH_MAX = 32;
/** Names in all, and items in all. The fullest body, a document of 500 lines, has some 2,500; three megabytes could contain a million. */
const VALUES_MAX = 10_000;
/** They would change the object itself instead of its content. */
const REJECTED_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

const OTHER_CHARSET = /;\s*charset\s*=\s*(?!"?utf-8"?\s*(?:;|$))/i;

/** The `type` of the error about a body that is not UTF-8, as the body parser names its own. */
export const NOT_UTF8 = 'encoding.not_utf8';

/** The `type` of the error about a body of too many values, and its message. */
export const TOO_MANY_VALUES = 'entity.too.many.values';
export const TOO_MANY_TEXT = `Request body must hold at most ${VALUES_MAX} values`;

const BYTE_ORDER_MARK = Buffer.from('\u{feff}');
const lengths = new WeakMap<object, number>();

/** How many bytes of a body were read. */
export function bodyBytesOf(request: Request): number {
  return lengths.get(request) ?? 0;
}

type ReadJson = (request: Request, response: Response) => Promise<unknown>;

/** @param limit bytes a body has at most. @returns what reads a body: the parsed value, or undefined when there is none. */
export function jsonReader(limit: number): ReadJson {
  const parse = express.json({
    limit,
    inflate: false, // Compressed bodies are rejected: a few bytes could become gigabytes.
    strict: false,
    type: 'application/json',
    verify: (request, _response, bytes) => {
      lengths.set(request, bytes.length);
      // Decoded, the wrong bytes become U+FFFD: a mangled name would be stored, and printed on an invoice that can no longer change.
      if (!isUtf8(bytes)) throw Object.assign(new Error('The body is not UTF-8'), { type: NOT_UTF8 });
      if (hasMoreValuesThan(bytes, VALUES_MAX))
        throw Object.assign(new Error(TOO_MANY_TEXT), { type: TOO_MANY_VALUES });
      // The parser takes the mark off, finds nothing left and calls it an empty object.
      if (bytes.equals(BYTE_ORDER_MARK))
        throw Object.assign(new Error('The body is empty'), { type: 'entity.parse.failed' });
    },
  });
  return async (request, response) => {
    const { headers } = request;
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (!hasBody) return undefined;
    if (!request.is('application/json')) throw new AppError(415, 'Content-Type must be application/json');
    // The parser would take every charset that begins with `utf-`: JSON is UTF-8 (RFC 8259, 8.1).
    if (OTHER_CHARSET.test(headers['content-type'] ?? '')) {
      throw new AppError(415, 'Unsupported content encoding or charset');
    }
    await new Promise<void>((resolve, reject) => {
      parse(request, response, (error?: unknown) => (error ? reject(error) : resolve()));
    });
    requireSane(request.body);
    return request.body;
  };
}

function requireSane(body: unknown) {
  // A list instead of recursion: ten thousand levels must not end in a stack overflow.
  let level = [body].filter(isCompound);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) throw new AppError(400, 'Request body is nested too deeply');
    const next: object[] = [];
    for (const value of level) {
      const isList = Array.isArray(value);
      const names = isList ? [] : Object.keys(value);
      const rejected = names.find((name) => REJECTED_NAMES.has(name));
      if (rejected !== undefined) throw new AppError(400, `Request body must not hold the name ${rejected}`);
      for (const inner of isList ? value : Object.values(value)) if (isCompound(inner)) next.push(inner);
    }
    level = next;
  }
}

function isCompound(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}
