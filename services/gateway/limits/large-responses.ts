// Keeps large lists from filling the memory: few of one kind at a time for an account, and a limit on bytes that wait to be read.
import type { Response } from 'express';
import { AppError, storeUnavailable } from '#libs/errors.ts';
import { isUnanswered } from '#libs/mongo/errors.ts';
import { type ByteCapacity, type ByteCapacityLimits, openByteCapacity } from './byte-capacity.ts';
import { withConcurrencyLimit } from './concurrency-limit.ts';

/** A hundred invoices of the largest size are 26 MB of JSON: this fits a gateway of 768 MiB with two callers that read such lists. */
const LARGE_AT_ONCE = 4;
const MIB = 1024 * 1024;
/** As many bytes as LARGE_AT_ONCE of the longest lists have and some more; for all accounts what a gateway of 768 MiB has left. */
const RESPONSE_LIMITS: ByteCapacityLimits = { perAccount: 144 * MIB, all: 256 * MIB };
const REJECTIONS = {
  full: { status: 503, message: 'Too many responses are waiting to be read, retry later', seconds: 2 },
  overShare: { status: 429, message: 'Too many responses are waiting to be read', seconds: 1 },
} as const;
const TOO_MANY_LARGE = 'Too many lists are being read at the same time';

/** Bytes of responses that callers have not read yet. */
export function openResponseCapacity(limits: ByteCapacityLimits = RESPONSE_LIMITS): ByteCapacity {
  return openByteCapacity(limits, REJECTIONS);
}

/** When the database last failed to answer a list: a caller that queued behind such a list gets 503 instead of 429. */
let unansweredAt = Number.NEGATIVE_INFINITY;

/**
 * Runs at most LARGE_AT_ONCE at a time of one name; the next waits. A list takes three times its size while it is made, and its size
 * until it is read.
 */
export async function limitLargeResponses(name: string, response: Response, respond: () => Promise<void>) {
  const since = performance.now();
  const respondWhole = async () => {
    if (response.closed) return; // The caller has gone while it waited.
    try {
      await respond();
    } catch (error) {
      if (isUnanswered(error)) unansweredAt = performance.now();
      throw error;
    }
    if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
  };
  const late = () =>
    unansweredAt > since ? storeUnavailable() : new AppError(429, TOO_MANY_LARGE, { headers: { 'Retry-After': '1' } });
  await withConcurrencyLimit(`large ${name}`, respondWhole, { atOnce: LARGE_AT_ONCE, late });
}
