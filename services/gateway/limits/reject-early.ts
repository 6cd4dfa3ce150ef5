// Turns documents away at the door while there is no room for them: nothing is read, no key looked up, nothing written for each alone.
import type { NextFunction, Request, Response } from 'express';
import { rememberedAccountOf } from '#libs/models/accounts/api-key.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Logger } from '#libs/service/logger.ts';
import type { RequestSeconds } from '#libs/service/metrics.ts';
import { bearerOf } from '../http/authenticate.ts';
import { nameRequest } from '../http/request-log.ts';
import { isPrintedFromBody, type Route } from '../http/route.ts';
import type { PrintDocument } from '../printing/print-document.ts';

/** In an overload most requests end here, hundreds a second: one line in the log speaks for as many as come in this time. */
const LINE_APART_MS = 1_000;

export interface EarlyOptions {
  log: Logger;
  /** Refused requests count like all others. */
  seconds?: RequestSeconds | undefined;
  /** Without it, or without a refusal, all go on. */
  print?: PrintDocument | undefined;
}

/** What it lets through may still be refused later: an address written in another way, an account that has its share. */
export function rejectEarly(routes: readonly Route[], { log, seconds, print }: EarlyOptions) {
  const printed = Map.groupBy(routes.filter(isPrintedFromBody), ({ method }) => method.toUpperCase());
  const admission = print?.admission;
  const note = lineForMany(log);

  return (request: Request, response: Response, next: NextFunction) => {
    const rows = printed.get(request.method);
    if (!rows || !admission) return next();
    const [path] = request.url.split('?', 1);
    const row = rows.find((one) => one.path === path);
    if (!row) return next();
    const requestId = nameRequest(request, response);
    // Only a key that was used a moment ago keeps room: a stranger who connects often must not take it from callers.
    const accountId = accountOf(request);
    const refused = accountId ? admission.reserve(requestId, accountId) : admission.rejection(undefined);
    if (!refused) {
      response.once('close', () => admission.cancelReservation(requestId));
      return next();
    }
    const startedAt = performance.now();
    const body = JSON.stringify({ error: refused.message });
    response.writeHead(refused.status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'Retry-After': refused.seconds,
    });
    response.end(body);
    note(refused.seconds);
    seconds?.observe(
      { method: request.method, route: row.path, status: refused.status },
      (performance.now() - startedAt) / 1000,
    );
  };
}

function accountOf(request: Request): Id | undefined {
  const key = bearerOf(request);
  return key === undefined ? undefined : rememberedAccountOf(key);
}

function lineForMany(log: Logger) {
  let refused = 0;
  return (retryAfterSeconds: number) => {
    refused += 1;
    if (refused > 1) return;
    setTimeout(() => {
      log.warn({ refused, retryAfterSeconds }, 'documents refused: too many are waiting');
      refused = 0;
    }, LINE_APART_MS).unref();
  };
}
