// The operations dashboard: the table of its pages and actions, and the manners they share.
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { AuditEntry, type AuditRecord } from '#libs/models/operations/audit-entry.ts';
import { isId } from '#libs/models/tenant.ts';
import { assetRoutes } from './assets.ts';
import { auditPage } from './audit.ts';
import { bulkPage, bulkRunPage, continueRun, stopRun } from './bulk.ts';
import { openBulkRunner } from './bulk-runner.ts';
import { deliveriesPage } from './deliveries.ts';
import { deliveryPage, replayOne } from './delivery.ts';
import { endpointPage } from './endpoint.ts';
import { failuresPage } from './failures.ts';
import { renderPage } from './html.ts';
import { frame, type Page } from './layout.ts';
import { loginRoutes } from './login.ts';
import { overviewPage } from './overview.ts';
import { sendProblem } from './problem.ts';
import { queuePage } from './queue.ts';
import { pause, resume, retryAll, retryOne } from './queue-actions.ts';
import { rawJobs } from './raw-jobs.ts';
import { Refusal } from './refusal.ts';
import { rendersPage } from './renders.ts';
import { confirmReplay, replayMatching } from './replay.ts';
import { startSampler } from './sampler.ts';
import { securityHeaders } from './security-headers.ts';
import {
  type Done,
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
    sendProblem(error, parts.log, request, response);
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
