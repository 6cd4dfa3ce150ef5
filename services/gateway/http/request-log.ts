// Gives every request an id, and a line in the log without bodies, keys or query texts.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { pinoHttp } from 'pino-http';
import type { Logger } from '#libs/logger.ts';

/** A caller's own id is taken when it cannot break a log line or a header. */
const ID_FORM = /^[A-Za-z0-9._-]{8,128}$/;

/** To be called first: whatever becomes of a request, its answer carries its id. */
export function nameRequest(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  request.id = given !== undefined && ID_FORM.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', request.id);
  next();
}

/** The line of each request. */
export function requestLog(log: Logger) {
  return pinoHttp<IncomingMessage, ServerResponse>({
    logger: log,
    customLogLevel: (_request, response, error) => (error || response.statusCode >= 500 ? 'warn' : 'info'),
    serializers: {
      req: (request: { id: string; method: string; url: string }) => ({
        id: request.id,
        method: request.method,
        path: request.url.split('?', 1)[0],
      }),
      res: (response: { statusCode: number }) => ({ status: response.statusCode }),
    },
  });
}
