// How often a key may call, how often it may ask for a document, and how often an address may come with a wrong key.
import type { Request, RequestHandler, Response } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import { AppError } from '#libs/errors.ts';
import type { Logger } from '#libs/logger.ts';
import type { Redis } from '#libs/redis.ts';
import { portionedCount } from './portioned-count.ts';
import { type Caller, isRendered, type Route } from './route.ts';

/** Each per minute; 0 is no limit. */
export interface RateLimits {
  /** Of one key, whatever it does. */
  requests: number;
  /** Of one key, for answers that are rendered. */
  documents: number;
  /** Of one address, answered 401. */
  refusals: number;
}

export interface Rates {
  /** @throws AppError 429 when the caller's key is over a limit. */
  admit(request: Request, response: Response, caller: Caller, row: Route): Promise<void>;
  /** Counts a request without a usable key. @throws AppError 429 when its address brought too many. */
  refuse(request: Request, response: Response): Promise<void>;
}

/** What a 429 says. */
export const TOO_MANY = 'Too many requests, please slow down';

const WINDOW_MS = 60_000;
/** A portion of a hundredth keeps the error between gateways at about one per cent each. */
const PORTIONS_PER_WINDOW = 100;

/** Limits hold over all gateways on one Redis. While Redis is away nothing is limited: a billing API that answers is worth more. */
export function openRates(options: { redis: Redis; prefix: string; limits: RateLimits; log: Logger }): Rates {
  const { redis, prefix, limits, log } = options;
  const byKey = (_request: Request, response: Response) => (response.locals['caller'] as Caller).keyId;
  const byAddress = ({ ip = 'unknown' }: Request) => ipKeyGenerator(ip);
  const requests = limiter('requests', limits.requests, byKey);
  const documents = limiter('documents', limits.documents, byKey);
  const refusals = limiter('refusals', limits.refusals, byAddress);

  function limiter(
    name: keyof RateLimits,
    limit: number,
    keyGenerator: (request: Request, response: Response) => string,
  ): RequestHandler | undefined {
    if (limit === 0) return undefined;
    return rateLimit({
      windowMs: WINDOW_MS,
      limit,
      identifier: name,
      keyGenerator,
      standardHeaders: 'draft-8',
      legacyHeaders: false,
      handler: (_request, _response, next) => next(new AppError(429, TOO_MANY)),
      store: portionedCount({
        redis,
        prefix: `${prefix}:rate:${name}:`,
        windowMs: WINDOW_MS,
        portion: Math.max(1, Math.floor(limit / PORTIONS_PER_WINDOW)),
      }),
      passOnStoreError: true,
      // What was not printed does not count as a document: the caller had it already, or there was no room for it.
      skipSuccessfulRequests: name === 'documents',
      requestWasSuccessful: (_request, { statusCode }) => statusCode === 304 || statusCode === 503,
      // Every request of an outage would write a line; the connection itself says once that Redis is away.
      logger: { error: (error) => log.debug({ err: error }, 'not rate limited'), warn: (text) => log.warn(text) },
      validate: false, // Its checks are for mistakes of set-up and cost time on every request.
    });
  }

  return {
    async admit(request, response, caller, row) {
      response.locals['caller'] = caller;
      if (requests) await passing(requests, request, response);
      if (documents && isRendered(row)) await passing(documents, request, response);
    },
    async refuse(request, response) {
      if (refusals) await passing(refusals, request, response);
    },
  };
}

/** A middleware as something to await. */
function passing(middleware: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    const next = (error?: unknown) => (error ? reject(error as Error) : resolve());
    void Promise.resolve(middleware(request, response, next)).catch(reject);
  });
}
