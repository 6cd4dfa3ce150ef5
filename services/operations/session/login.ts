// Opens and ends sessions. Every attempt is slow, counted and recorded.
import express, { type Request, type Response, Router } from 'express';
import { ipKeyGenerator, type Options, rateLimit } from 'express-rate-limit';
import pLimit from 'p-limit';
import { audit } from '#libs/models/operations/audit-entry.ts';
import { findByPassword, Operator, operatorName } from '#libs/models/operations/operator.ts';
import { closeSession, findSession, openSession } from '#libs/models/operations/operator-session.ts';
import { PASSWORD_LONGEST } from '#libs/password.ts';
import { DashboardError } from '../views/dashboard-error.ts';
import { renderPage } from '../views/html.ts';
import { loginPage } from './login-page.ts';
import { addressOf, giveCookie, localPath, requireSameOrigin, requireToken, takeCookie, tokenOf } from './visit.ts';

const WINDOW_MS = 15 * 60_000;
/** Per name: a person mistypes a few times, an attacker needs thousands of attempts. */
const FAILURES_PER_NAME = 10;
/** Per address: several operators may share one. */
const FAILURES_PER_ADDRESS = 30;
const NAME_LONGEST = 100;
/** About ten seconds of attempts: a person who waits longer has given up. */
const WAITING_MAX = 40;

export function loginRoutes(): Router {
  // One at a time: an attempt costs a quarter of a second of a core and 64 MiB.
  const oneAttempt = pLimit(1);
  const login = (request: Request, response: Response) => {
    if (oneAttempt.pendingCount >= WAITING_MAX)
      throw new DashboardError(503, 'Too many logins at once, retry in a minute');
    return oneAttempt(() => logIn(request, response));
  };
  const form = express.urlencoded({ extended: false, limit: '4kb', parameterLimit: 10 });
  const perAddress = limiter(FAILURES_PER_ADDRESS, (request) => ipKeyGenerator(addressOf(request)));
  const perName = limiter(FAILURES_PER_NAME, (request) => fieldsOf(request).name);
  return Router()
    .get('/login', showLogin)
    .post('/login', form, checkOrigin, perAddress, perName, login)
    .post('/logout', form, logout);
}

function showLogin(request: Request, response: Response) {
  sendLogin(response, 200, { next: localPath(request.query['next']) });
}

function checkOrigin(request: Request, _response: Response, next: () => void) {
  requireSameOrigin(request);
  next();
}

async function logIn(request: Request, response: Response) {
  const { name, password, next } = fieldsOf(request);
  const address = addressOf(request);
  const entry = { operator: name || '(no name)', address, action: 'login' } as const;
  const operator = await findByPassword(name, password);
  if (!operator) {
    await audit(entry, 'refused', 'wrong name or password');
    return sendLogin(response, 401, { next, name, problem: 'Wrong name or password' });
  }
  const token = await openSession(operator._id, address);
  await audit(entry, 'done');
  await Operator.updateOne({ _id: operator._id }, { $set: { last_login_at: new Date() } });
  giveCookie(request, response, token);
  response.redirect(303, next);
}

async function logout(request: Request, response: Response) {
  requireSameOrigin(request);
  const token = tokenOf(request);
  const session = token ? await findSession(token) : null;
  if (token && session) {
    const operator = await Operator.findById(session.operator_id).lean();
    const name = operator?.name ?? '(removed)';
    const address = addressOf(request);
    requireToken(request, { name, role: 'viewer', csrf: session.csrf, address, token });
    await closeSession(token);
    await audit({ operator: name, address, action: 'logout' }, 'done');
  }
  takeCookie(request, response);
  response.redirect(303, '/login');
}

/**
 * Counts failed attempts in this process, because logins must work while Redis is unavailable.
 * With several dashboards an attacker has this limit on each of them; every attempt is still slow.
 */
function limiter(limit: number, keyGenerator: NonNullable<Options['keyGenerator']>) {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit,
    keyGenerator,
    skipSuccessfulRequests: true,
    // A correct password or an unavailable store is no failed attempt. A rejection counts, so that only the first one is recorded.
    requestWasSuccessful: (_request, response) => ![401, 429].includes(response.statusCode),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    handler: reject,
  });
}

function reject(request: Request, response: Response, _next: unknown, { limit }: Options) {
  const { name, next } = fieldsOf(request);
  const { used } = (request as Request & { rateLimit: { used: number } }).rateLimit;
  const entry = { operator: name || '(no name)', address: addressOf(request), action: 'login' } as const;
  const detail = `more than ${limit as number} failed attempts in 15 minutes`;
  // Only the first rejection is recorded: a flood must not fill the audit log.
  const recorded = used === Number(limit) + 1 ? audit(entry, 'refused', detail) : Promise.resolve();
  const problem = 'Too many failed attempts, retry in 15 minutes';
  // The rejection does not depend on the audit log.
  void recorded.catch(() => undefined).then(() => sendLogin(response, 429, { next, name, problem }));
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
