// Sends a JSON response with its ETag, and a list with the links to its other pages.
import type { Request, Response } from 'express';
import { writeCursor } from './cursor.ts';
import { entityTag, isKnown, taggedPart } from './entity-tag.ts';
import { type PageQuery, pageLinks } from './page.ts';
import type { JsonResponse } from './response.ts';
import type { Context, Route } from './route.ts';

interface SendOptions {
  row: Route;
  /** The list that a cursor of the next page belongs to, see cursor.ts. */
  list: string;
  reserve: Context['reserve'];
}

export function sendResponse(
  { request, response }: { request: Request; response: Response },
  { status, body, headers, next }: JsonResponse,
  { row: { omitFromTag }, list, reserve }: SendOptions,
) {
  const json = JSON.stringify(body);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const length = Buffer.byteLength(json);
  // The response to a change is always sent: the change has happened.
  reserve(length, !isRead);
  const { pagination } = body as { pagination?: PageQuery & { total: number } };
  if (pagination) response.set('Link', pageLinks(request.originalUrl, pagination, next && writeCursor(list, next)));
  response.status(status).set(headers ?? {});
  if (isRead && status === 200 && !pagination) {
    const tag = entityTag(omitFromTag ? taggedPart(body, omitFromTag) : json);
    response.set('ETag', tag);
    // Fields outside of the tag may have changed although the tag is the same.
    if (!omitFromTag && isKnown(request, tag)) return response.status(304).end();
  }
  // Express's `send` would compare tags again, and answer 304 although a field outside of the tag has changed.
  response.set({ 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': String(length) });
  return response.end(json);
}
