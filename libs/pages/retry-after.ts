// The header that says when a request for a page may be sent again.
import type { Response } from 'express';

/** Seconds by status. A limit counts for a minute, and a store is back in seconds. */
const SECONDS: Readonly<Record<number, string>> = { 429: '60', 503: '2' };

/** Sets the header on a 429 or a 503, as the error says it, or as is usual. */
export function setRetryAfter(response: Response, status: number, error: unknown): void {
  const usual = SECONDS[status];
  const { headers } = (error ?? {}) as { headers?: Readonly<Record<string, string>> };
  if (usual) response.set({ 'Retry-After': usual, ...headers });
}
