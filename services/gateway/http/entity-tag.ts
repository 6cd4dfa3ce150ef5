// ETag, If-None-Match and If-Match: a strong tag over the bytes of a single read.
import { hash } from 'node:crypto';
import type { Request } from 'express';
import { AppError } from '#libs/errors.ts';
import { found } from './response.ts';

/** What a 412 says. */
export const CHANGED = 'The record has changed: If-Match does not match its ETag';

/** @param json the bytes of the answer. */
export function entityTag(json: string): string {
  return `"${hash('sha1', json, 'base64url')}"`;
}

/** What the tag of a record is made of. @param omitFromTag see Route. */
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
 * Refuses a change of something else than what the caller has read.
 * @param data what a single read would answer now; only asked for when the caller sent `If-Match`.
 * @param omitFromTag see Route.
 * @throws AppError 412.
 */
export async function requireMatch(
  request: Request,
  data: () => unknown,
  omitFromTag: readonly string[] = [],
): Promise<void> {
  const given = request.headers['if-match'];
  if (given === undefined || given.trim() === '*') return;
  const tag = entityTag(taggedPart(found(await data()).body, omitFromTag));
  if (!tagsOf(given).includes(tag)) throw new AppError(412, CHANGED);
}

function tagsOf(header: string): string[] {
  return header.split(',').map((tag) => tag.trim());
}
