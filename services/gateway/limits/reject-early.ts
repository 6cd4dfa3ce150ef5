// Rejects documents before anything is read while the queue is full: no key is looked up, no body read, no log line written for each.
import type { NextFunction, Request, Response } from 'express';
import { errorBody } from '#libs/errors.ts';
import { errorOf } from '#libs/http/rejection.ts';
import { whenClosed } from '#libs/http/when-closed.ts';
import { rememberedAccountOf } from '#libs/models/accounts/key-cache.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import type { Logger } from '#libs/service/logger.ts';
import { bearerOf } from '../http/authenticate.ts';
import type { ObserveRequest } from '../http/measure.ts';
import { nameRequest } from '../http/request-log.ts';
import { isPrintedFromBody, type Route } from '../http/route.ts';

/** In an overload hundreds of requests a second end here: one log line counts those of this interval. */
const LINE_APART_MS = 1_000;

export interface EarlyOptions {
  log: Logger;
  /** Rejected requests count like all others. */
  observe?: ObserveRequest | undefined;
  /** Requests continue without it, or when it rejects nothing. */
  print?: PrintDocument | undefined;
}

/** A request that passes may still be rejected later: its path is written in another way, or its account has its share. */
export function rejectEarly(routes: readonly Route[], { log, observe, print }: EarlyOptions) {
  const printed = Map.groupBy(routes.filter(isPrintedFromBody), ({ method }) => method.toUpperCase());
  const admission = print?.admission;
  const logRejection = lineForMany(log);

  return (request: Request, response: Response, next: NextFunction) => {
    const rows = printed.get(request.method);
    if (!rows || !admission) return next();
    const [path] = request.url.split('?', 1);
    const row = rows.find((one) => one.path === path);
    if (!row) return next();
    const requestId = nameRequest(request, response);
    // Only a key that was used a moment ago reserves a place: a stranger who connects often must not take it from callers.
    const accountId = accountOf(request);
    const rejected = accountId ? admission.reserve(requestId, accountId) : admission.rejection(undefined);
    if (!rejected) {
      whenClosed(response, () => admission.cancelReservation(requestId));
      return next();
    }
    const startedAt = performance.now();
    const error = errorOf(rejected);
    const body = JSON.stringify(errorBody(error));
    response.writeHead(error.status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      ...error.headers,
    });
    response.end(body);
    logRejection(rejected.seconds);
    const { operation, path: route } = row;
    const { status, code } = error;
    const ms = performance.now() - startedAt;
    observe?.({ method: request.method, route, operation, status, code, ms, isAnswered: true });
  };
}

function accountOf(request: Request): Id | undefined {
  const key = bearerOf(request);
  return key === undefined ? undefined : rememberedAccountOf(key);
}

function lineForMany(log: Logger) {
  let rejected = 0;
  return (retryAfterSeconds: number) => {
    rejected += 1;
    if (rejected > 1) return;
    setTimeout(() => {
      log.warn({ rejected, retryAfterSeconds }, 'documents rejected: too many are waiting');
      rejected = 0;
    }, LINE_APART_MS).unref();
  };
}
