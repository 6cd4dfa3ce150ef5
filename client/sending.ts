// How the package sends a call: which failures it sends again, and how a response is read.
import { secondsOf } from './api-error.ts';
import type { RetryContext } from './generated/billhook.ts';

/** A gateway that asks for a longer pause gets its error to the caller, who may have better things to do. */
const LONGEST_PAUSE_SECONDS = 60;
const UNAVAILABLE = new Set([502, 503, 504]);

/**
 * Decides whether a call is sent again:
 * - 429, because the gateway did nothing
 * - no response, 502, 503 and 504, if a second call does no harm
 * - 409 of a POST whose first try is still running
 */
export function isSentAgain({ request, response }: RetryContext): boolean {
  const isPost = request.method === 'POST';
  const isHarmless = request.method !== 'PATCH' && (!isPost || 'Idempotency-Key' in request.headers);
  if (response === undefined) return isHarmless;
  const pause = response.headers.get('retry-after');
  if ((secondsOf(pause) ?? 0) > LONGEST_PAUSE_SECONDS) return false;
  if (response.status === 409) return isPost && isHarmless && pause !== null;
  return response.status === 429 || (isHarmless && UNAVAILABLE.has(response.status));
}

/** Reads a response of JSON to its end, so that a connection lost halfway is a failed try and is sent again. Files stay streams. */
export function readingJson(send: typeof fetch): typeof fetch {
  return async (...call) => {
    const response = await send(...call);
    if (!response.headers.get('content-type')?.includes('json')) return response;
    const { status, statusText, headers } = response;
    const text = await response.text();
    return new Response(text, { status, statusText, headers });
  };
}
