// The specification's envelopes.
import { type Problem, problemBody } from '#libs/errors.ts';
import type { Position } from '#libs/models/keyset.ts';
import type { PageQuery } from './page.ts';

/** The result of a handler. send-response.ts sends it. */
export interface JsonResponse {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
  /** The body that an `Idempotency-Key` replays instead, when `body` shows a secret that is never shown again. */
  replayBody?: unknown;
  /** The start of a list's next page, when there is one. It becomes `Link: rel="next"`. */
  next?: Position | undefined;
}

export function created(data: unknown): JsonResponse {
  return { status: 201, body: { success: true, data } };
}

export function updated(data: unknown): JsonResponse {
  return { status: 200, body: { success: true, data } };
}

/** Returns the response for an `external_id` that was booked before: the record as it is now. */
export function replayed(data: unknown): JsonResponse {
  return { ...updated(data), headers: { 'Idempotent-Replayed': 'true' } };
}

export function deleted(message: string): JsonResponse {
  return { status: 200, body: { success: true, message } };
}

/** Names in the body that the operation does not know are said, so that a misspelt one is found. */
export function withIgnored(response: JsonResponse, ignored: readonly string[]): JsonResponse {
  return ignored.length === 0 ? response : { ...response, body: { ...(response.body as object), ignored } };
}

/** Adds what the caller should know of work that was done. A response without warnings has no such field. */
export function withWarnings(response: JsonResponse, problems: readonly Problem[]): JsonResponse {
  if (problems.length === 0) return response;
  const warnings = problems.map(problemBody);
  const warned = (body: unknown) => ({ ...(body as object), warnings });
  const { body, replayBody } = response;
  return { ...response, body: warned(body), ...(replayBody === undefined ? {} : { replayBody: warned(replayBody) }) };
}

export function found(data: unknown): JsonResponse {
  return { status: 200, body: { data } };
}

/** @param total how many records match the filters, not how many are on the page. @param next see JsonResponse. */
export function listed(
  data: unknown[],
  { total, next }: { total: number; next?: Position },
  page: PageQuery,
): JsonResponse {
  const { limit, offset } = page;
  return { status: 200, body: { data, pagination: { total, limit, offset } }, next };
}
