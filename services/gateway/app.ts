// The HTTP application: the only place that knows the list of resources.
import express, { type Express } from 'express';
import helmet from 'helmet';
import type { Registry } from 'prom-client';
import { AppError, storeUnavailable } from '#libs/errors.ts';
import type { Logger } from '#libs/service/logger.ts';
import { requestMetrics } from '#libs/service/metrics.ts';
import { accountRoutes } from './account/routes.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { clientRoutes } from './clients/routes.ts';
import { batchRoutes } from './documents/batch-routes.ts';
import { documentRoutes } from './documents/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { compressLists } from './http/compress-lists.ts';
import { allowOrigins } from './http/cross-origin.ts';
import { errorHandler } from './http/error-handler.ts';
import { literalPath } from './http/literal-path.ts';
import { measureRequests } from './http/measure.ts';
import { withOptionalFields } from './http/optional-fields.ts';
import { requestLog } from './http/request-log.ts';
import type { Route } from './http/route.ts';
import { type ServeOptions, serveRoutes } from './http/serve-routes.ts';
import { traceRequests } from './http/trace-requests.ts';
import { invoiceRoutes } from './invoices/routes.ts';
import { refuseEarly } from './limits/reject-early.ts';
import { numberingRoutes } from './numbering/routes.ts';
import { pdfToolRoutes } from './pdf-tool/routes.ts';
import type { PrintDocument } from './printing/print-document.ts';
import { projectRoutes } from './projects/routes.ts';
import { quoteRoutes } from './quotes/routes.ts';
import { eventCatalogue } from './reference/event-catalogue.ts';
import { serveReference } from './reference/serve-reference.ts';
import { taskRoutes } from './tasks/routes.ts';
import { timeEntryRoutes } from './time-entries/routes.ts';
import type { WebhookParts } from './webhooks/parts.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** The table of every operation. @param parts what the webhook operations need besides the database. */
export const routesOf = (parts: WebhookParts): readonly Route[] =>
  withOptionalFields([
    ...accountRoutes,
    ...apiKeyRoutes,
    ...clientRoutes,
    ...projectRoutes,
    ...taskRoutes,
    ...timeEntryRoutes,
    ...quoteRoutes,
    ...invoiceRoutes,
    ...documentRoutes,
    ...batchRoutes,
    ...numberingRoutes,
    ...pdfToolRoutes,
    ...webhookRoutes(parts),
    ...eventRoutes({ ...parts, catalogue: eventCatalogue }),
  ]);

export interface AppOptions extends ServeOptions, WebhookParts {
  log: Logger;
  /** How many proxies in front set X-Forwarded-For. */
  trustProxy: number;
  metrics?: Registry;
  /** The way to the renderers, see printerOf. */
  print?: PrintDocument;
  /** Origins whose pages may call from a browser; none unless given. */
  corsOrigins?: readonly string[];
  /** While it says so every request is answered 503: the database is not there yet. */
  isStarting?: () => boolean;
  /** See serveReference. */
  isReferenceMadeNow?: boolean;
}

export function makeApp(options: AppOptions): Express {
  const app = express();
  const routes = routesOf(options);
  const seconds = options.metrics && requestMetrics(options.metrics);
  app.locals['print'] = options.print;
  app.disable('x-powered-by').disable('etag').set('trust proxy', options.trustProxy).set('query parser', false);
  app.use(helmet());
  // First: a page shall be able to read refusals as well.
  if (options.corsOrigins?.length) app.use(allowOrigins(options.corsOrigins));
  app.use(refuseEarly(routes, { ...options, seconds }));
  app.use(requestLog(options.log));
  app.use(traceRequests);
  if (seconds) app.use(measureRequests(seconds));
  app.use((_request, _response, next) => {
    if (options.isStarting?.()) throw storeUnavailable();
    next();
  });
  app.use(compressLists);
  app.use(literalPath);
  app.use(serveRoutes(routes, options));
  app.use(serveReference(routes, options.isReferenceMadeNow));
  app.use(() => {
    throw new AppError(404, 'Not found');
  });
  app.use(errorHandler);
  return app;
}
