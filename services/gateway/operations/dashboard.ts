// The operations dashboard: the table of its pages and actions, and the manners they share.
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { AuditEntry, type AuditRecord } from '#libs/models/audit-entry.ts';
import { isId } from '#libs/models/tenant.ts';
import { isStoreAway } from '#libs/mongo.ts';
import { assetRoutes } from './assets.ts';
import { auditPage } from './audit.ts';
import { bulkPage, bulkRunPage, continueRun, stopRun } from './bulk.ts';
import { openBulkRunner } from './bulk-runner.ts';
import { deliveriesPage, deliveryPage, replayOne } from './deliveries.ts';
import { endpointPage } from './endpoint.ts';
import { failuresPage } from './failures.ts';
import { html, renderPage } from './html.ts';
import { documentOf, frame, type Page } from './layout.ts';
import { loginRoutes } from './login.ts';
import { overviewPage } from './overview.ts';
import { note } from './parts.ts';
import { pause, queuePage, resume, retryAll, retryOne } from './queue.ts';
import { rawJobs } from './raw-jobs.ts';
import { Refusal } from './refusal.ts';
import { rendersPage } from './renders.ts';
import { confirmReplay, replayMatching } from './replay.ts';
import { startSampler } from './sampler.ts';
import {
  type Parts,
  requireOperator,
  requireSameOrigin,
  requireSession,
  requireToken,
  type Visit,
  visitorOf,
} from './visit.ts';

const pages: Record<string, (visit: Visit) => Promise<Page>> = {
  '/': overviewPage,
  '/failures': failuresPage,
  '/deliveries': deliveriesPage,
  '/deliveries/replay': confirmReplay,
  '/deliveries/:id': deliveryPage,
  '/endpoints/:id': endpointPage,
  '/renders': rendersPage,
  '/queues/:name': queuePage,
  '/bulk': bulkPage,
  '/bulk/:id': bulkRunPage,
  '/audit': auditPage,
};

/** What an action answers: where to go next, and the audit entry that tells how it went. */
export interface Done {
  to: string;
  entryId?: string;
}

const actions: Record<string, (visit: Visit) => Promise<Done>> = {
  '/deliveries/replay': replayMatching,
  '/deliveries/:id/replay': replayOne,
  '/queues/:name/pause': pause,
  '/queues/:name/resume': resume,
  '/queues/:name/retry': retryAll,
  '/queues/:name/jobs/:id/retry': retryOne,
  '/bulk/:id/stop': stopRun,
  '/bulk/:id/continue': continueRun,
};

export interface Dashboard {
  app: Express;
  /** To be closed before the queues and MongoDB are. */
  close(): Promise<void>;
}

/** @param trustProxy how many proxies in front set X-Forwarded-For. */
export function openDashboard({ trustProxy, ...given }: Omit<Parts, 'bulk'> & { trustProxy: number }): Dashboard {
  const parts = { ...given, bulk: openBulkRunner(given) };
  const stopSampler = startSampler(parts.queues, parts.log);
  return {
    app: makeApp(parts, trustProxy),
    async close() {
      await stopSampler();
      await parts.bulk.close();
    },
  };
}

function makeApp(parts: Parts, trustProxy: number): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('trust proxy', trustProxy).set('query parser', 'simple');
  app.use('/jobs', requireSession, rawJobs(parts.queues));
  app.use(securityHeaders());
  app.use(assetRoutes());
  app.use(loginRoutes());
  app.use(requireSession);
  for (const [path, show] of Object.entries(pages))
    app.get(path, (request, response) => answer(parts, show, request, response));
  const form = express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 });
  for (const [path, act] of Object.entries(actions))
    app.post(path, form, (request, response) => perform(parts, act, request, response));
  app.use(() => {
    throw new Refusal(404, 'There is no such page.');
  });
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) return next(error);
    sendProblem(error, parts, request, response);
  });
  return app;
}

async function answer(parts: Parts, show: (visit: Visit) => Promise<Page>, request: Request, response: Response) {
  const visitor = visitorOf(response);
  const page = await show({ ...parts, visitor, request });
  const said = await outcomeOf(request, visitor.name);
  response
    .status(page.status ?? 200)
    .set('Cache-Control', 'no-store')
    .send(renderPage(frame(page, visitor, said)));
}

async function perform(parts: Parts, act: (visit: Visit) => Promise<Done>, request: Request, response: Response) {
  const visitor = visitorOf(response);
  requireSameOrigin(request);
  requireToken(request, visitor);
  await requireOperator(request, visitor);
  const { to, entryId } = await act({ ...parts, visitor, request });
  response.redirect(303, entryId ? `${to}${to.includes('?') ? '&' : '?'}done=${entryId}` : to);
}

/** What is said about an action comes from the audit log, so that no link can make the page say anything. */
async function outcomeOf(request: Request, operator: string) {
  const id = request.query['done'];
  if (!isId(id)) return undefined;
  const entry = await AuditEntry.findOne({ _id: id, operator }).lean<AuditRecord>();
  if (!entry?.detail) return undefined;
  return { tone: entry.outcome === 'done' ? ('good' as const) : ('bad' as const), text: entry.detail };
}

function sendProblem(error: unknown, parts: Parts, request: Request, response: Response) {
  const { status, message } = problemOf(error);
  if (status >= 500) parts.log.error({ err: error, path: request.path }, 'the dashboard could not answer');
  const body = note('bad', message);
  const visitor = response.locals['visitor'] ? visitorOf(response) : undefined;
  const page = visitor
    ? frame({ title: 'Not done', section: '', body }, visitor)
    : documentOf(
        'Not done',
        html`<body class="login"><main>${body}<p><a href="/">To the overview</a></p></main></body>`,
      );
  response.status(status).set('Cache-Control', 'no-store').send(renderPage(page));
}

function problemOf(error: unknown): { status: number; message: string } {
  if (error instanceof Refusal) return error;
  if (isStoreAway(error)) return { status: 503, message: 'MongoDB does not answer. This page comes back with it.' };
  const { status, codeName } = (error ?? {}) as { status?: number; codeName?: string };
  if (codeName === 'MaxTimeMSExpired') {
    return { status: 422, message: 'The search took longer than 5 seconds. Please choose a shorter time.' };
  }
  // The body parser's refusals.
  if (status && status < 500) return { status, message: 'The request could not be read.' };
  return { status: 500, message: 'Something went wrong here. The log of the gateway says what.' };
}

function securityHeaders() {
  return helmet({
    // With helmet's own `no-referrer` browsers send forms with `Origin: null`, which could be anybody's.
    referrerPolicy: { policy: 'same-origin' },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        scriptSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
  });
}
