// The specification's envelopes.
import type { Position } from '#libs/models/keyset.ts';
import type { PageQuery } from './page.ts';

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
  /** What an `Idempotency-Key` replays instead of `body`, for answers with something that is shown once and stored nowhere. */
  remember?: unknown;
  /** Where a page of a list ends, when there is more: what `Link` has as the next page. */
  next?: Position | undefined;
}

export function created(data: unknown): Answer {
  return { status: 201, body: { success: true, data } };
}

export function updated(data: unknown): Answer {
  return { status: 200, body: { success: true, data } };
}

export function deleted(message: string): Answer {
  return { status: 200, body: { success: true, message } };
}

export function found(data: unknown): Answer {
  return { status: 200, body: { data } };
}

/** @param total how many records match the filters, not how many are on the page. @param next see Answer. */
export function listed(data: unknown[], { total, next }: { total: number; next?: Position }, page: PageQuery): Answer {
  const { limit, offset } = page;
  return { status: 200, body: { data, pagination: { total, limit, offset } }, next };
}
