// Rate limits: requests and documents of a key and its account, and requests of an address without a usable key.
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import { appError } from '#libs/errors.ts';
import type { Redis } from '#libs/redis/connection.ts';
import { ACCOUNT_RATE_FACTOR } from '#libs/service/env.ts';
import type { Logger } from '#libs/service/logger.ts';
import { type Caller, isRendered, type Route } from '../http/route.ts';
import { batchedCounter } from './batched-counter.ts';

/** Each per minute; 0 is no limit. */
export interface RateLimits {
  /** Requests of one key, of any kind. An account has twice as many over all its keys. */
  requests: number;
  /** The same for responses that are rendered. */
  documents: number;
  /** Requests of one address that are answered with 401. */
  refusals: number;
}

export interface Rates {
  /** @throws AppError 429 when the caller's key or account is over a limit. */
  admit(request: Request, response: Response, caller: Caller, row: Route): Promise<void>;
  /** Counts a document that a request prints, which is not a print in every case. @throws AppError 429 as `admit`. */
  admitPrint(request: Request, response: Response): Promise<void>;
  /** Counts a request without a usable key. @throws AppError 429 when its address brought too many. */
  countRejection(request: Request, response: Response): Promise<void>;
}

const WINDOW_MS = 60_000;
const AFTER_WINDOW = { 'Retry-After': String(WINDOW_MS / 1_000) };
/** A batch of a hundredth keeps the error at about one per cent for each gateway. */
const BATCHES_PER_WINDOW = 100;
const READ_LIMIT_MS = 100;

/** Limits apply across all gateways of one Redis. While Redis is unavailable nothing is limited: an API that responds is worth more. */
export function openRates(options: {
  redis: Redis;
  prefix: string;
  limits: RateLimits;
  log: Logger;
  readLimitMs?: number;
}): Rates {
  const { redis, prefix, limits, log, readLimitMs = READ_LIMIT_MS } = options;
  const byKey = (_request: Request, response: Response) => (response.locals['caller'] as Caller).keyId;
  const byAccount = (_request: Request, response: Response) => (response.locals['caller'] as Caller).accountId;
  const byAddress = ({ ip = 'unknown' }: Request) => ipKeyGenerator(ip);
  const requests = limiter('requests', limits.requests, byKey);
  const documents = limiter('documents', limits.documents, byKey);
  const accountRequests = limiter('account-requests', limits.requests * ACCOUNT_RATE_FACTOR, byAccount);
  const accountDocuments = limiter('account-documents', limits.documents * ACCOUNT_RATE_FACTOR, byAccount);
  const refusals = limiter('refusals', limits.refusals, byAddress);

  function limiter(
    name: keyof RateLimits | 'account-requests' | 'account-documents',
    limit: number,
    keyGenerator: (request: Request, response: Response) => string,
  ): RequestHandler | undefined {
    if (limit === 0) return undefined;
    const isOfAccount = name.startsWith('account-');
    return rateLimit({
      windowMs: WINDOW_MS,
      limit,
      identifier: name,
      keyGenerator,
      // Headers show the key's limit, which a caller with one key reaches first; the account's shows only in the 429.
      standardHeaders: isOfAccount ? false : 'draft-8',
      legacyHeaders: false,
      handler: (_request, _response, next) =>
        next(appError('rate_limited', undefined, isOfAccount ? { headers: AFTER_WINDOW } : {})),
      store: batchedCounter({
        redis,
        prefix: `${prefix}:rate:${name}:`,
        windowMs: WINDOW_MS,
        batch: Math.max(1, Math.floor(limit / BATCHES_PER_WINDOW)),
        readLimitMs,
      }),
      passOnStoreError: true,
      // A document that was not printed does not count: the caller had it already or asked for its headers, or the queue was full.
      skipSuccessfulRequests: name.endsWith('documents'),
      requestWasSuccessful: ({ method }, { statusCode }) =>
        method === 'HEAD' || statusCode === 304 || statusCode === 503,
      // During an outage every request would write a line; the connection logs once that Redis is unavailable.
      logger: { error: (error) => log.debug({ err: error }, 'not rate limited'), warn: (text) => log.warn(text) },
      validate: false, // Its checks are for mistakes of set-up and cost time on every request.
    });
  }

  async function admitPrint(request: Request, response: Response) {
    for (const limiter of [documents, accountDocuments]) if (limiter) await run(limiter, request, response);
  }

  return {
    async admit(request, response, caller, row) {
      response.locals['caller'] = caller;
      for (const limiter of [requests, accountRequests]) if (limiter) await run(limiter, request, response);
      if (isRendered(row)) await admitPrint(request, response);
    },
    admitPrint,
    async countRejection(request, response) {
      if (refusals) await run(refusals, request, response);
    },
  };
}

/** A middleware as something to await. */
function run(middleware: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (error?: unknown) => (error ? reject(error as Error) : resolve());
    void Promise.resolve(middleware(request, response, next)).catch(reject);
  });
}
