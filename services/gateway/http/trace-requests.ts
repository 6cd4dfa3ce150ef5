// Makes each request a span of the trace its caller began, or of a new one.
import type { NextFunction, Request, Response } from 'express';
import { whenClosed } from '#libs/http/when-closed.ts';
import { endRequestSpan, inRequestSpan, isTracing } from '#libs/service/tracing.ts';

export function traceRequests(request: Request, response: Response, next: NextFunction) {
  if (!isTracing()) return next();
  inRequestSpan({ method: request.method, headers: request.headers, id: String(request.id) }, (span) => {
    // `close` also comes when the caller has gone before the response.
    whenClosed(response, () => {
      const pattern = (request.route as { path?: string } | undefined)?.path;
      endRequestSpan(span, { method: request.method, route: pattern ?? 'none', status: response.statusCode });
    });
    next();
  });
}
