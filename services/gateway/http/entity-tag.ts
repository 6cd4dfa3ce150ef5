// ETag, If-None-Match and If-Match: a strong tag over the bytes of a single read.
import { hash } from 'node:crypto';
import type { Request } from 'express';
import { type AppError, appError } from '#libs/errors.ts';
import { found } from './response.ts';
import type { Reading, Route } from './route.ts';

/** @param json the body of the response. */
export function entityTag(json: string): string {
  return `"${hash('sha1', json, 'base64url')}"`;
}

/** The part of a record that its tag covers. @param omitFromTag see Route. */
export function taggedPart(body: unknown, omitFromTag: readonly string[]): string {
  return JSON.stringify(body, (name, value: unknown) => (omitFromTag.includes(name) ? undefined : value));
}

/** True when the caller already has what it would be sent. */
export function isKnown(request: Request, tag: string): boolean {
  const given = request.headers['if-none-match'];
  // A weak tag is good enough to save sending the same again (RFC 9110, 13.1.2).
  return (
    given !== undefined && (given.trim() === '*' || tagsOf(given).some((known) => known.replace(/^W\//, '') === tag))
  );
}

/**
 * Honours `If-Match`: rejects a change of a record that has changed since the caller read it.
 * @param single the single read of the record, which only a request with `If-Match` needs.
 * @throws AppError 412, or `missing`.
 */
export async function requireMatch(
  request: Request,
  { read, omitFromTag = [] }: Route,
  { reading, missing }: { reading: Reading; missing: () => AppError },
): Promise<void> {
  const given = request.headers['if-match'];
  if (!read || given === undefined || given.trim() === '*') return;
  const view = await read(reading);
  if (!view) throw missing();
  const tag = entityTag(taggedPart(found(view).body, omitFromTag));
  if (!tagsOf(given).includes(tag)) throw appError('record_changed');
}

function tagsOf(header: string): string[] {
  return header.split(',').map((tag) => tag.trim());
}
