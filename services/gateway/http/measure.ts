// Measures how long each request took, by the route's pattern: paths contain ids and would make a series each.
import type { NextFunction, Request, Response } from 'express';
import { whenClosed } from '#libs/http/when-closed.ts';
import type { RequestSeconds } from '#libs/service/metrics.ts';

export function measureRequests(seconds: RequestSeconds) {
  return (request: Request, response: Response, next: NextFunction) => {
    const startedAt = performance.now();
    // `close` also comes when the caller has gone before the response.
    whenClosed(response, () => {
      const pattern = (request.route as { path?: string } | undefined)?.path;
      const labels = { method: request.method, route: pattern ?? 'none', status: response.statusCode };
      seconds.observe(labels, (performance.now() - startedAt) / 1000);
    });
    next();
  };
}
