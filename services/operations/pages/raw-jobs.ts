// The raw jobs in bull-board, read-only. Actions go through the dashboard's own pages, which check roles and write the
// audit log.
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import { type NextFunction, type Request, type Response, Router } from 'express';
import helmet from 'helmet';
import { catalog } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { DashboardError } from '../views/dashboard-error.ts';
import { counted } from '../views/format.ts';

export function rawJobs(queues: Queues): Router {
  const serverAdapter = new ExpressAdapter();
  serverAdapter.setBasePath('/jobs');
  createBullBoard({
    queues: catalog.map((definition) => {
      const adapter = new BullMQAdapter(queues.raw(definition), { readOnlyMode: true });
      adapter.setFormatter('data', withoutDocument);
      return adapter;
    }),
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Billhook jobs', miscLinks: [{ text: 'Back to operations', url: '/' }] } },
  });
  return Router().use(readOnly, securityHeaders(), serverAdapter.getRouter());
}

/** Rejects requests other than reads. The board is read-only already, and none of its GET routes changes anything. */
function readOnly(request: Request, _response: Response, next: NextFunction) {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new DashboardError(405, 'Raw jobs are read-only. Use the pages of the queues to act.');
  }
  next();
}

/** Removes the content of documents, which operators must not see. */
function withoutDocument(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('document' in data)) return data;
  const { title, number, lineItems } = (data.document ?? {}) as {
    title?: string;
    number?: string;
    lineItems?: unknown;
  };
  const lines = Array.isArray(lineItems) ? lineItems.length : 0;
  return { ...data, document: `${title ?? ''} ${number ?? ''}, ${counted(lines, 'line')} (not shown)` };
}

/** Sets the board's own policy: its styles are inline, and it finds its files by its base URL. */
function securityHeaders() {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        scriptSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
        baseUri: ["'self'"],
      },
    },
  });
}
