// The portal's pages, and the headers and the 404 page that all of them share.
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { AppError } from '#libs/errors.ts';
import { publicKeys } from '#libs/models/operations/signing-key.ts';
import { isUnavailable } from '#libs/mongo/errors.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { setRetryAfter } from '#libs/pages/retry-after.ts';
import type { Logger } from '#libs/service/logger.ts';
import { type ClientOptions, clientRoutes } from './client/client-routes.ts';
import { clientAssets } from './client/layout.ts';
import { type DeveloperOptions, developerRoutes } from './developer/developer-routes.ts';
import { securityHeaders } from './http/security-headers.ts';
import { limitUnreadResponses } from './http/unread-responses.ts';
import { hookRoutes } from './stripe/hook-routes.ts';
import { notePage } from './views/layout.ts';

export interface PortalParts {
  /** The number of proxies in front that set X-Forwarded-For. */
  trustProxy: number;
  developer: Omit<DeveloperOptions, 'log'>;
  client: Omit<ClientOptions, 'log'>;
  log: Logger;
}

/** Makes the application of the public port. */
export function makeApp({ trustProxy, developer, client, log }: PortalParts): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('trust proxy', trustProxy).set('query parser', 'simple');
  app.use(securityHeaders);
  app.use(limitUnreadResponses());
  // They contain the shared ones as well.
  app.use(clientAssets.routes());
  app.get('/.well-known/billhook-keys', async (_request, response) => {
    response.json(await publicKeys());
  });
  app.use(developerRoutes({ ...developer, log }));
  app.use(clientRoutes({ ...client, log }));
  app.use(hookRoutes({ box: developer.box, nudge: developer.nudge, quotaBytes: client.quotaBytes, log }));
  // Unknown, revoked and foreign links get this page as well: nothing tells them apart.
  app.use(() => {
    throw new PageError(404, NOT_FOUND);
  });
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) return next(error);
    const note = (status: number, title: string, text: string) => {
      setRetryAfter(response, status, error);
      response.status(status).send(notePage(title, text));
    };
    if (isUnavailable(error)) return note(503, 'Please try again', UNAVAILABLE);
    if (isNowhere(error)) return note(404, 'Page not found', NOT_FOUND);
    if (error instanceof PageError) return note(error.status, 'Not done', error.message);
    if (error instanceof AppError && error.status >= 500) return note(503, 'Please try again', UNAVAILABLE);
    if (error instanceof AppError && error.status === 429) return note(429, 'Please try again', BUSY);
    const { status } = (error ?? {}) as { status?: number };
    // The parser of bodies and paths throws errors with a status.
    if (status && status < 500) return note(status, 'Not understood', UNREADABLE);
    // The path holds the token of a link, so the log has neither the path nor the address.
    log.error({ err: error, method: request.method }, 'a request to the portal failed');
    return note(500, 'Something went wrong', FAILED);
  });
  return app;
}

/** True for a path that leads nowhere, also one with malformed percent-encoding. */
const isNowhere = (error: unknown) => error instanceof URIError || (error instanceof PageError && error.status === 404);

const NOT_FOUND = 'This address leads nowhere. If it came in a mail, ask the sender for a new link.';
const UNAVAILABLE = 'This page is not available at the moment. Please reload it in a minute.';
const BUSY = 'Too many people look at this at the same time. Please try again in a moment.';
const UNREADABLE = 'The request could not be read. Please go back and try again.';
const FAILED = 'The page could not be shown. Please try again later.';
