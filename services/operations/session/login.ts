// Opens and ends sessions. Every attempt is slow, limited and recorded.
import express, { type Request, type Response, Router } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import pLimit from 'p-limit';
import { audit } from '#libs/models/operations/audit-entry.ts';
import { findByPassword, isBrowserOf, Operator, operatorName } from '#libs/models/operations/operator.ts';
import { rememberBrowser } from '#libs/models/operations/operator-browser.ts';
import { closeSession, findSession, openSession } from '#libs/models/operations/operator-session.ts';
import { requireSameOrigin, requireToken } from '#libs/pages/form-guard.ts';
import { counted } from '#libs/pages/format.ts';
import { renderPage } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { PASSWORD_LONGEST } from '#libs/password.ts';
import { browserTokenOf, clearSession, sessionTokenOf, setBrowser, setSession } from './cookies.ts';
import { type LoginAdmission, openLoginLimits } from './login-limits.ts';
import { loginPage } from './login-page.ts';
import { addressOf, localPath } from './visit.ts';

const NAME_LONGEST = 100;
/** The most attempts that wait. They take about ten seconds, and a person does not wait longer. */
const WAITING_MAX = 40;

export function loginRoutes(limits = openLoginLimits()): Router {
  // One attempt runs at a time, because it costs a quarter of a second of a core and 64 MiB. Strangers do not delay
  // known browsers.
  const queues = { known: pLimit(1), unknown: pLimit(1) };

  async function attempt(request: Request, response: Response) {
    requireSameOrigin(request);
    const { name } = fieldsOf(request);
    const token = browserTokenOf(request);
    const browser = token && (await isBrowserOf(name, token)) ? token : undefined;
    const queue = queues[browser ? 'known' : 'unknown'];
    if (queue.pendingCount >= WAITING_MAX) throw new PageError(503, 'Too many logins at once, retry in a minute');
    const admission = limits.admit({ name, address: ipKeyGenerator(addressOf(request)), browser });
    if (!admission.isAdmitted) return reject(admission, request, response);
    return queue(() => logIn(request, response, { browser, notFailed: admission.cancel }));
  }

  const form = express.urlencoded({ extended: false, limit: '4kb', parameterLimit: 10 });
  return Router().get('/login', showLogin).post('/login', form, attempt).post('/logout', form, logout);
}

function showLogin(request: Request, response: Response) {
  sendLogin(response, 200, { next: localPath(request.query['next']) });
}

/**
 * Logs an operator in.
 * @param given.browser its token, when the operator has logged in with it before.
 * @param given.notFailed called unless the password was wrong.
 */
async function logIn(
  request: Request,
  response: Response,
  given: { browser?: string | undefined; notFailed: () => void },
) {
  const { name, password, next } = fieldsOf(request);
  const address = addressOf(request);
  const entry = { operator: name || '(no name)', address, action: 'login' } as const;
  const operator = await findByPassword(name, password).catch((error) => {
    given.notFailed();
    throw error;
  });
  if (!operator) {
    await audit(entry, 'refused', 'wrong name or password');
    return sendLogin(response, 401, { next, name, problem: 'Wrong name or password' });
  }
  given.notFailed();
  const session = await openSession(operator._id, address);
  const browser = await rememberBrowser(operator._id, given.browser);
  await audit(entry, 'done');
  await Operator.updateOne({ _id: operator._id }, { $set: { last_login_at: new Date() } });
  setSession(request, response, session);
  setBrowser(request, response, browser);
  response.redirect(303, next);
}

async function logout(request: Request, response: Response) {
  requireSameOrigin(request);
  const token = sessionTokenOf(request);
  const session = token ? await findSession(token) : null;
  if (token && session) {
    const operator = await Operator.findById(session.operator_id).lean();
    const name = operator?.name ?? '(removed)';
    const address = addressOf(request);
    requireToken(request, session.csrf);
    await closeSession(token);
    await audit({ operator: name, address, action: 'logout' }, 'done');
  }
  clearSession(request, response);
  response.redirect(303, '/login');
}

async function reject(rejection: LoginAdmission & { isAdmitted: false }, request: Request, response: Response) {
  const { name, next } = fieldsOf(request);
  const seconds = Math.ceil(rejection.retryAfterMs / 1_000);
  const entry = { operator: name || '(no name)', address: addressOf(request), action: 'login' } as const;
  // Only the first rejection is recorded, because a flood must not fill the audit log. The rejection does not depend on
  // the log.
  if (rejection.isFirst) await audit(entry, 'refused', 'too many failed attempts').catch(() => undefined);
  const problem = `Too many failed attempts, retry in ${seconds > 60 ? `${Math.ceil(seconds / 60)} minutes` : counted(seconds, 'second')}`;
  response.set('Retry-After', String(seconds));
  sendLogin(response, 429, { next, name, problem });
}

function fieldsOf(request: Request) {
  const body = (request.body ?? {}) as Record<string, unknown>;
  const text = (name: string, longest: number) => {
    const value = body[name];
    return typeof value === 'string' ? value.slice(0, longest) : '';
  };
  return {
    name: operatorName(text('name', NAME_LONGEST)),
    password: text('password', PASSWORD_LONGEST),
    next: localPath(body['next']),
  };
}

function sendLogin(response: Response, status: number, content: Parameters<typeof loginPage>[0]) {
  response
    .status(status)
    .set('Cache-Control', 'no-store')
    .send(renderPage(loginPage(content)));
}
