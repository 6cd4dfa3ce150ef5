// The HTTP application: the order of middleware around the table of routes.
import express, { type Express } from 'express';
import helmet from 'helmet';
import type { Registry } from 'prom-client';
import { appError, storeUnavailable } from '#libs/errors.ts';
import type { RequestCounter } from '#libs/models/operations/request-figures.ts';
import { eventCatalogue } from '#libs/responses/event-catalogue.ts';
import type { Logger } from '#libs/service/logger.ts';
import { requestMetrics } from '#libs/service/metrics.ts';
import { compressLists } from './http/compress-lists.ts';
import { allowOrigins } from './http/cross-origin.ts';
import { errorHandler } from './http/error-handler.ts';
import { literalPath } from './http/literal-path.ts';
import { measureRequests, observerOf } from './http/measure.ts';
import type { GatewayParts } from './http/parts.ts';
import { requestLog } from './http/request-log.ts';
import { type ServeOptions, serveRoutes } from './http/serve-routes.ts';
import { traceRequests } from './http/trace-requests.ts';
import { rejectEarly } from './limits/reject-early.ts';
import { serveReference } from './reference/serve-reference.ts';
import { routes } from './routes.ts';

export interface AppOptions extends Omit<ServeOptions, 'parts'>, Omit<GatewayParts, 'eventCatalogue'> {
  log: Logger;
  /** How many proxies in front set X-Forwarded-For. */
  trustProxy: number;
  metrics?: Registry;
  /** The figures of requests for the dashboard. */
  figures?: RequestCounter;
  /** Origins whose pages may call from a browser; none unless given. */
  corsOrigins?: readonly string[];
  /** True until the database is connected. Every request gets 503 until then. */
  isStarting?: () => boolean;
}

export function makeApp({ print, outbound, box, nudge, quotas = {}, ...options }: AppOptions): Express {
  const app = express();
  const { markdown, portalUrl } = options;
  const parts: GatewayParts = { print, markdown, outbound, box, nudge, portalUrl, quotas, eventCatalogue };
  const observe = observerOf(options.metrics && requestMetrics(options.metrics), options.figures);
  app.disable('x-powered-by').disable('etag').set('trust proxy', options.trustProxy).set('query parser', false);
  app.use(helmet());
  // First: pages must be able to read rejections as well.
  if (options.corsOrigins?.length) app.use(allowOrigins(options.corsOrigins));
  app.use(rejectEarly(routes, { log: options.log, print, observe }));
  app.use(requestLog(options.log, routes));
  app.use(traceRequests);
  app.use(measureRequests(observe));
  app.use((_request, _response, next) => {
    if (options.isStarting?.()) throw storeUnavailable();
    next();
  });
  app.use(compressLists);
  app.use(literalPath);
  app.use(serveRoutes(routes, { ...options, parts }));
  app.use(serveReference(routes));
  app.use(() => {
    throw appError('route_not_found');
  });
  app.use(errorHandler);
  return app;
}
