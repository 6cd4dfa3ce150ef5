// The developer's pages: the table of pages and forms, and the checks before each of them.
import express, { type NextFunction, type Request, type Response, Router } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { Account } from '#libs/models/accounts/account.ts';
import type { Scope } from '#libs/models/accounts/api-key.ts';
import { findPortalSession } from '#libs/models/portal/portal-session.ts';
import { isId } from '#libs/models/tenant.ts';
import { requireSameOrigin, requireToken } from '#libs/pages/form-guard.ts';
import { renderPage } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { openLimit, VISIT_LIMITS, type VisitLimits } from '../http/limits.ts';
import { countFor } from '../http/unread-responses.ts';
import { type SessionCookie, sessionCookie } from './cookie.ts';
import { changeFields, createOne, deleteOne, disable, enable, ping, rotate } from './endpoint-actions.ts';
import { frame, LEAVE, type Page } from './layout.ts';
import { exchangeLink, leave, showLink } from './open-link.ts';
import { type Done, MESSAGES, type Message, messageIn } from './outcome.ts';
import { deliveryPage, replay } from './pages/delivery.ts';
import { endpointPage } from './pages/endpoint.ts';
import { endpointsPage } from './pages/endpoints.ts';
import { eventTypePage, eventTypesPage } from './pages/event-types.ts';
import { sendProblem } from './problem.ts';
import { ended, type Parts, requireScope, type Visit, type Visitor, visitorOf } from './visit.ts';

interface PageRoute {
  scope: Scope;
  show: (visit: Visit) => Promise<Page>;
}

interface FormRoute {
  scope: Scope;
  act: (visit: Visit) => Promise<Done>;
}

export const DEVELOPER_PAGES: Readonly<Record<string, PageRoute>> = {
  '/developer': { scope: 'webhooks:read', show: endpointsPage },
  '/developer/endpoints/:id': { scope: 'webhooks:read', show: endpointPage },
  '/developer/deliveries/:id': { scope: 'webhooks:read', show: deliveryPage },
  '/developer/events': { scope: 'webhooks:read', show: eventTypesPage },
  '/developer/events/:type': { scope: 'webhooks:read', show: eventTypePage },
};

export const DEVELOPER_FORMS: Readonly<Record<string, FormRoute>> = {
  '/developer/endpoints': { scope: 'webhooks:write', act: createOne },
  '/developer/endpoints/:id/change': { scope: 'webhooks:write', act: changeFields },
  '/developer/endpoints/:id/enable': { scope: 'webhooks:write', act: enable },
  '/developer/endpoints/:id/disable': { scope: 'webhooks:write', act: disable },
  '/developer/endpoints/:id/ping': { scope: 'webhooks:write', act: ping },
  '/developer/endpoints/:id/rotate-secret': { scope: 'webhooks:write', act: rotate },
  '/developer/endpoints/:id/delete': { scope: 'webhooks:write', act: deleteOne },
  '/developer/deliveries/:id/replay': { scope: 'webhooks:write', act: replay },
};

export interface DeveloperOptions extends Parts {
  /** True when browsers reach the portal by https, whatever the proxy in front of it says. */
  isPublicSecure: boolean;
  limits?: VisitLimits | undefined;
}

export function developerRoutes({ isPublicSecure, limits = VISIT_LIMITS, ...parts }: DeveloperOptions): Router {
  const cookie = sessionCookie(isPublicSecure);
  const admit = { address: openLimit(limits.address), link: openLimit(limits.link), form: openLimit(limits.forms) };
  const form = express.urlencoded({ extended: false, limit: '32kb', parameterLimit: 20 });
  const router = Router({ caseSensitive: true, strict: true });

  router.use((request, response, next) => {
    // With `no-referrer`, browsers send forms with `Origin: null`, which any site could send.
    response.set('Referrer-Policy', 'same-origin');
    admit.address(ipKeyGenerator(request.ip ?? 'unknown'));
    next();
  });
  router.get('/developer/open/:token', showLink);
  router.post('/developer/open/:token', exchangeLink(cookie));
  router.use(async (request, response, next) => {
    const visitor = await findVisitor(cookie, request);
    admit.link(String(visitor.session.link_id));
    response.locals['visitor'] = visitor;
    countFor(visitor.accountId, response);
    next();
  });
  router.param('id', (_request, _response, next, id) => next(isId(id) ? undefined : noSuchPage()));
  for (const [path, { scope, show }] of Object.entries(DEVELOPER_PAGES)) {
    router.get(path, async (request, response) => {
      const visitor = visitorOf(response);
      requireScope(visitor, scope);
      send(response, await show({ ...parts, visitor, request }), messageIn(request.query['done']));
    });
  }
  const guard = (request: Request, response: Response, next: NextFunction) => {
    const { session } = visitorOf(response);
    requireSameOrigin(request);
    requireToken(request, session.csrf);
    admit.form(String(session.link_id));
    next();
  };
  for (const [path, { scope, act }] of Object.entries(DEVELOPER_FORMS)) {
    router.post(path, form, guard, async (request, response) => {
      const visitor = visitorOf(response);
      requireScope(visitor, scope);
      const done = await act({ ...parts, visitor, request });
      const { accountId, session } = visitor;
      // The log has the pattern of the path, so that it holds no secret of a form.
      parts.log.info({ accountId, linkId: String(session.link_id), form: path, id: request.params['id'] }, 'form done');
      if ('page' in done) return send(response, done.page);
      response.redirect(303, `${done.to}?done=${done.message}`);
    });
  }
  router.post(LEAVE, form, guard, leave(cookie));
  router.use(() => {
    throw noSuchPage();
  });
  router.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) return next(error);
    sendProblem(error, parts.log, request, response);
  });
  return Router().use(onlyUnder('/developer', router));
}

const noSuchPage = () => new PageError(404, 'No such page');

function onlyUnder(path: string, router: Router) {
  return (request: Request, response: Response, next: NextFunction) =>
    request.path === path || request.path.startsWith(`${path}/`) ? router(request, response, next) : next();
}

function send(response: Response, page: Page, message?: Message) {
  const isTrue = message !== undefined && message !== page.untrue;
  const outcome = isTrue ? ({ tone: 'good', text: MESSAGES[message] } as const) : undefined;
  response.status(page.status ?? 200).send(renderPage(frame(page, visitorOf(response), outcome)));
}

/** Reads session, key and account for every request, so that the end of a key and fewer scopes take effect at once. */
async function findVisitor(cookie: SessionCookie, request: Request): Promise<Visitor> {
  const token = cookie.read(request);
  const found = token ? await findPortalSession(token) : undefined;
  const account = found && (await Account.findById(found.session.account_id, { name: 1 }).lean<{ name: string }>());
  if (!found || !account) throw ended();
  const { session, key } = found;
  return {
    accountId: String(session.account_id),
    accountName: account.name,
    keyId: String(key._id),
    scopes: key.scopes,
    session,
  };
}
