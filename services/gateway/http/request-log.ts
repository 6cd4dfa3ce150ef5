// Gives every request an id, and a line in the log without bodies, keys, query texts or addresses of persons.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pinoHttp } from 'pino-http';
import { describeError, type Logger } from '#libs/service/logger.ts';
import { openLoggedPath } from './logged-path.ts';
import type { Route } from './route.ts';

/** A caller's own id is taken when it cannot break a log line or a header. */
const ID_FORM = /^[A-Za-z0-9._-]{8,128}$/;

/** Gives a request its id, which every response to it carries. */
export function nameRequest(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  request.id = typeof given === 'string' && ID_FORM.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', request.id);
  return request.id;
}

/** Names each request that has no name yet, and writes its line. */
export function requestLog(log: Logger, routes: readonly Route[]) {
  const loggedPath = openLoggedPath(routes);
  return pinoHttp<IncomingMessage, ServerResponse>({
    logger: log,
    genReqId: nameRequest,
    customLogLevel: (_request, response, error) => (error || response.statusCode >= 500 ? 'warn' : 'info'),
    serializers: {
      err: describeError,
      req: (request: { id: string; method: string; url: string }) => ({
        id: request.id,
        method: request.method,
        path: loggedPath(request.url),
      }),
      res: (response: { statusCode: number }) => ({ status: response.statusCode }),
    },
  });
}
