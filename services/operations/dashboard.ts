// The operations dashboard: the table of its pages and actions, and the checks before each of them.
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { AuditEntry, type AuditRecord } from '#libs/models/operations/audit-entry.ts';
import { isId } from '#libs/models/tenant.ts';
import { requireSameOrigin, requireToken } from '#libs/pages/form-guard.ts';
import { renderPage } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { securityHeaders } from '#libs/pages/security-headers.ts';
import { openBulkRunner } from './actions/bulk-runner.ts';
import { disable, enable, ping } from './actions/endpoint-actions.ts';
import { pause, removeAll, removeOne, resume, retryAll, retryOne } from './actions/queue-actions.ts';
import { replayMatching } from './actions/replay.ts';
import { retryMatchingMail, retryOneMessage } from './actions/retry-mail.ts';
import { startSampler } from './monitoring/sampler.ts';
import { accountPage, accountsPage } from './pages/accounts.ts';
import { auditPage } from './pages/audit.ts';
import { bulkPage, bulkRunPage, continueRun, stopRun } from './pages/bulk.ts';
import { businessPage } from './pages/business.ts';
import { deliveriesPage } from './pages/deliveries.ts';
import { deliveryPage, replayOne } from './pages/delivery.ts';
import { endpointPage } from './pages/endpoint.ts';
import { endpointsPage } from './pages/endpoints.ts';
import { failuresPage } from './pages/failures.ts';
import { jobPage } from './pages/job.ts';
import { mailPage } from './pages/mail.ts';
import { messagePage } from './pages/message.ts';
import { overviewPage } from './pages/overview.ts';
import { queuePage } from './pages/queue.ts';
import { rendersPage } from './pages/renders.ts';
import { requestsPage } from './pages/requests.ts';
import { loginRoutes } from './session/login.ts';
import {
  type DashboardParts,
  type Done,
  requireOperator,
  requireSession,
  type Visit,
  visitorOf,
} from './session/visit.ts';
import { assets } from './views/assets.ts';
import { frame, type Page } from './views/layout.ts';
import { sendProblem } from './views/problem.ts';

const pages: Record<string, (visit: Visit) => Promise<Page>> = {
  '/': overviewPage,
  '/requests': requestsPage,
  '/failures': failuresPage,
  '/deliveries': deliveriesPage,
  '/deliveries/replay': replayMatching.confirm,
  '/deliveries/:id': deliveryPage,
  '/endpoints': endpointsPage,
  '/endpoints/:id': endpointPage,
  '/mail': mailPage,
  '/mail/retry': retryMatchingMail.confirm,
  '/mail/:id': messagePage,
  '/accounts': accountsPage,
  '/accounts/:id': accountPage,
  '/renders': rendersPage,
  '/business': businessPage,
  '/queues/:name': queuePage,
  '/queues/:name/jobs/:id': jobPage,
  '/bulk': bulkPage,
  '/bulk/:id': bulkRunPage,
  '/audit': auditPage,
};

const actions: Record<string, (visit: Visit) => Promise<Done>> = {
  '/deliveries/replay': replayMatching.start,
  '/deliveries/:id/replay': replayOne,
  '/endpoints/:id/enable': enable,
  '/endpoints/:id/disable': disable,
  '/endpoints/:id/ping': ping,
  '/mail/retry': retryMatchingMail.start,
  '/mail/:id/retry': retryOneMessage,
  '/queues/:name/pause': pause,
  '/queues/:name/resume': resume,
  '/queues/:name/retry': retryAll,
  '/queues/:name/remove': removeAll,
  '/queues/:name/jobs/:id/retry': retryOne,
  '/queues/:name/jobs/:id/remove': removeOne,
  '/bulk/:id/stop': stopRun,
  '/bulk/:id/continue': continueRun,
};

export interface Dashboard {
  app: Express;
  /** Ends runs. Close it before the queues and MongoDB. */
  close(): Promise<void>;
}

/** Opens the dashboard. @param trustProxy the number of proxies in front that set X-Forwarded-For. */
export function openDashboard({
  trustProxy,
  ...given
}: Omit<DashboardParts, 'bulk'> & { trustProxy: number }): Dashboard {
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

function makeApp(parts: DashboardParts, trustProxy: number): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('trust proxy', trustProxy).set('query parser', 'simple');
  app.use(securityHeaders());
  app.use(assets.routes());
  app.use(loginRoutes());
  app.use(requireSession);
  for (const [path, show] of Object.entries(pages))
    app.get(path, (request, response) => answer(parts, show, request, response));
  const form = express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 });
  for (const [path, act] of Object.entries(actions))
    app.post(path, form, (request, response) => perform(parts, act, request, response));
  app.use(() => {
    throw new PageError(404, 'No such page');
  });
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) return next(error);
    sendProblem(error, parts.log, request, response);
  });
  return app;
}

async function answer(
  parts: DashboardParts,
  show: (visit: Visit) => Promise<Page>,
  request: Request,
  response: Response,
) {
  const visitor = visitorOf(response);
  const page = await show({ ...parts, visitor, request });
  const message = await outcomeOf(request, visitor.name);
  response
    .status(page.status ?? 200)
    .set('Cache-Control', 'no-store')
    .send(renderPage(frame(page, visitor, message)));
}

async function perform(
  parts: DashboardParts,
  act: (visit: Visit) => Promise<Done>,
  request: Request,
  response: Response,
) {
  const visitor = visitorOf(response);
  requireSameOrigin(request);
  requireToken(request, visitor.csrf);
  await requireOperator(request, visitor);
  const { to, entryId } = await act({ ...parts, visitor, request });
  response.redirect(303, entryId ? `${to}${to.includes('?') ? '&' : '?'}done=${entryId}` : to);
}

/** The time for which a page tells of an action. Browsers keep its address, and what was done then may be undone since. */
const OUTCOME_SHOWN_MS = 60_000;

/** Returns the message about an action. It comes from the audit log, so that no link can put a text on the page. */
async function outcomeOf(request: Request, operator: string) {
  const id = request.query['done'];
  if (!isId(id)) return undefined;
  const entry = await AuditEntry.findOne({ _id: id, operator }).lean<AuditRecord>();
  if (!entry?.detail || Date.now() - entry.at.getTime() > OUTCOME_SHOWN_MS) return undefined;
  return { tone: entry.outcome === 'done' ? ('good' as const) : ('bad' as const), text: entry.detail };
}
