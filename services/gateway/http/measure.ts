// Measures how each request ended and how long it took, by its operation: paths contain ids and would make a series each.
import type { NextFunction, Request, Response } from 'express';
import { whenClosed } from '#libs/http/when-closed.ts';
import type { EndedRequest, RequestCounter } from '#libs/models/operations/request-figures.ts';
import type { RequestSeconds } from '#libs/service/metrics.ts';

interface MeasuredRequest extends EndedRequest {
  method: string;
  /** The pattern of the path. */
  route: string;
}

export type ObserveRequest = (request: MeasuredRequest) => void;

/** Returns the function that gives a request to the metrics and to the figures of the dashboard. */
export function observerOf(seconds: RequestSeconds | undefined, figures: RequestCounter | undefined): ObserveRequest {
  return (request) => {
    const { method, route, status, ms } = request;
    seconds?.observe({ method, route, status }, ms / 1000);
    figures?.count(request);
  };
}

/** Names the operation of a request for its measurement. */
export function nameOperation(response: Response, operation: string) {
  response.locals['operation'] = operation;
}

/** Names the error of a response for its measurement. */
export function nameError(response: Response, code: string) {
  response.locals['errorCode'] = code;
}

export function measureRequests(observe: ObserveRequest) {
  return (request: Request, response: Response, next: NextFunction) => {
    const startedAt = performance.now();
    // `close` also comes when the caller has gone before the response.
    whenClosed(response, () => {
      const pattern = (request.route as { path?: string } | undefined)?.path;
      observe({
        method: request.method,
        route: pattern ?? 'none',
        status: response.statusCode,
        isAnswered: response.writableFinished,
        operation: response.locals['operation'] as string | undefined,
        code: response.locals['errorCode'] as string | undefined,
        ms: performance.now() - startedAt,
      });
    });
    next();
  };
}
