// Keeps large lists from filling the memory: few of one kind at a time for an account, and a limit on bytes that wait to be read.
import { setTimeout as pause } from 'node:timers/promises';
import type { Response } from 'express';
import { appError, retryAfter, storeUnavailable } from '#libs/errors.ts';
import {
  type ByteCapacity,
  type ByteCapacityLimits,
  openByteCapacity,
  RESPONSE_REJECTIONS,
} from '#libs/http/byte-capacity.ts';
import { whenClosed } from '#libs/http/when-closed.ts';
import type { Id } from '#libs/models/tenant.ts';
import { isUnanswered } from '#libs/mongo/errors.ts';
import { WAIT_LIMIT_MS, withConcurrencyLimit } from './concurrency-limit.ts';
import type { RequestFairShare } from './request-fair-share.ts';

/** A hundred invoices of the largest size are 26 MB of JSON: this fits a gateway of 768 MiB with two callers that read such lists. */
const LARGE_AT_ONCE = 4;
/** Concurrency limit of an account while other accounts make large responses, too. Each blocks the event loop for some milliseconds. */
const SHARED_AT_ONCE = 2;
const MIB = 1024 * 1024;
/** An account may have somewhat more bytes than LARGE_AT_ONCE of the longest lists. All accounts share the memory that a gateway of 768 MiB has left. */
const RESPONSE_LIMITS: ByteCapacityLimits = { perAccount: 144 * MIB, all: 256 * MIB };

/** Bytes of responses that callers have not read yet. */
export function openResponseCapacity(limits: ByteCapacityLimits = RESPONSE_LIMITS): ByteCapacity {
  return openByteCapacity(limits, RESPONSE_REJECTIONS);
}

/** The time of the last list that the database did not answer. A caller that queued behind such a list gets 503 instead of 429. */
let unansweredAt = Number.NEGATIVE_INFINITY;

export interface LargeResponse {
  accountId: Id;
  /** The `operation` of the route. */
  operation: string;
  response: Response;
}

/**
 * Runs at most LARGE_AT_ONCE of an account and operation at a time; the next waits. A list takes three times its size while it is made,
 * and its size until it is read.
 * @param respond makes it and begins to send it.
 */
export async function limitLargeResponses(
  { accountId, operation, response }: LargeResponse,
  fairShare: Pick<RequestFairShare, 'isShared'>,
  respond: () => Promise<void>,
) {
  const since = performance.now();
  const respondWhole = async () => {
    if (response.closed) return; // The caller has gone while it waited.
    try {
      // Both waits together are no longer than one.
      const limitMs = WAIT_LIMIT_MS - (performance.now() - since);
      await (fairShare.isShared() ? withPause(limitMs) : respond());
    } catch (error) {
      if (isUnanswered(error)) unansweredAt = performance.now();
      throw error;
    }
    await new Promise<void>((resolve) => whenClosed(response, resolve));
  };
  /** Resolves when it is made; its place stays taken for as long again, in which the event loop serves others. */
  const withPause = (limitMs: number) => {
    const made = Promise.withResolvers<void>();
    const task = async () => {
      const startedAt = performance.now();
      await respond().then(made.resolve, made.reject);
      await pause(performance.now() - startedAt);
    };
    const options = { atOnce: SHARED_AT_ONCE, limitMs, late };
    withConcurrencyLimit(`make large ${accountId}`, task, options).catch(made.reject);
    return made.promise;
  };
  const late = () =>
    unansweredAt > since ? storeUnavailable() : appError('too_many_lists', undefined, { headers: retryAfter(1) });
  await withConcurrencyLimit(`large ${accountId} ${operation}`, respondWhole, { atOnce: LARGE_AT_ONCE, late });
}
