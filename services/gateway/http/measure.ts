// Tells the metrics how long each request took, by the route's pattern: paths hold ids and would be without number.
import type { NextFunction, Request, Response } from 'express';
import type { RequestSeconds } from '#libs/service/metrics.ts';

export function measureRequests(seconds: RequestSeconds) {
  return (request: Request, response: Response, next: NextFunction) => {
    const startedAt = performance.now();
    // `close` also comes when the caller has gone before the answer.
    response.once('close', () => {
      const pattern = (request.route as { path?: string } | undefined)?.path;
      const labels = { method: request.method, route: pattern ?? 'none', status: response.statusCode };
      seconds.observe(labels, (performance.now() - startedAt) / 1000);
    });
    next();
  };
}
