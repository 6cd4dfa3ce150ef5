// Who looks at the dashboard: the session behind the cookie, and what it may do.
import { timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import type { Queues } from '#libs/jobs/queue.ts';
import { audit } from '#libs/models/operations/audit-entry.ts';
import { Operator, type OperatorRecord, type OperatorRole } from '#libs/models/operations/operator.ts';
import { findSession, SESSION_LIFE_MS } from '#libs/models/operations/operator-session.ts';
import type { Logger } from '#libs/service/logger.ts';
import type { BulkRunner } from '../actions/bulk-runner.ts';
import { Refusal } from '../views/refusal.ts';

export interface Visitor {
  name: string;
  role: OperatorRole;
  /** Goes into every form. */
  csrf: string;
  address: string;
  token: string;
}

/** What pages and actions work with. */
export interface Parts {
  queues: Queues;
  log: Logger;
  /** Tells the webhook services that deliveries are due. */
  nudge: () => void;
  bulk: BulkRunner;
}

/** What an action answers: where to go next, and the audit entry that tells how it went. */
export interface Done {
  to: string;
  entryId?: string;
}

export interface Visit extends Parts {
  visitor: Visitor;
  request: Request;
}

const COOKIE = 'billhook_operations';
const COOKIE_FORM = new RegExp(`(?:^|; )${COOKIE}=([\\w-]{43})(?:;|$)`);
/** A path of our own: a link to the login must not lead elsewhere after it. */
const LOCAL_PATH = /^\/(?![/\\])[\w\-./?=&%:+]*$/;

export function tokenOf(request: Request): string | undefined {
  return COOKIE_FORM.exec(request.headers.cookie ?? '')?.[1];
}

const cookieOptions = (request: Request) => ({
  httpOnly: true,
  sameSite: 'strict' as const,
  // Behind a port-forward the dashboard is plain HTTP on loopback, where a secure cookie would be lost.
  secure: request.secure,
  path: '/',
});

export function giveCookie(request: Request, response: Response, token: string) {
  response.cookie(COOKIE, token, { ...cookieOptions(request), maxAge: SESSION_LIFE_MS });
}

export function takeCookie(request: Request, response: Response) {
  response.clearCookie(COOKIE, cookieOptions(request));
}

/** Lets only requests with a live session through; browsers that look at a page are led to the login. */
export async function requireSession(request: Request, response: Response, next: NextFunction) {
  const visitor = await findVisitor(request);
  if (visitor) {
    response.locals['visitor'] = visitor;
    return next();
  }
  const isLook = request.method === 'GET' && request.accepts('html') && !request.get('X-Refresh');
  if (!isLook) throw new Refusal(401, 'Your session has ended. Please log in again.');
  const back = request.originalUrl === '/' ? '' : `?next=${encodeURIComponent(localPath(request.originalUrl))}`;
  response.redirect(303, `/login${back}`);
}

export function localPath(text: unknown): string {
  return typeof text === 'string' && LOCAL_PATH.test(text) ? text : '/';
}

async function findVisitor(request: Request): Promise<Visitor | undefined> {
  const token = tokenOf(request);
  const session = token ? await findSession(token) : null;
  if (!token || !session) return undefined;
  // Read each time: a removed operator and a changed role count at once.
  const operator = await Operator.findById(session.operator_id).lean<OperatorRecord>();
  if (!operator) return undefined;
  const { name } = operator;
  const address = addressOf(request);
  return { name, role: operator.role as OperatorRole, csrf: session.csrf, address, token };
}

export function addressOf(request: Request): string {
  return request.ip ?? 'unknown';
}

export function visitorOf(response: Response): Visitor {
  return response.locals['visitor'] as Visitor;
}

/** @throws Refusal when a form of another site was sent, or one of a session that has ended. */
export function requireSameOrigin(request: Request) {
  const origin = request.get('Origin');
  const site = request.get('Sec-Fetch-Site');
  const isForeign = origin !== undefined && hostOf(origin) !== request.host;
  if (isForeign || (site !== undefined && site !== 'same-origin')) {
    throw new Refusal(403, 'This came from another site and was not done.');
  }
}

export function requireToken(request: Request, visitor: Visitor) {
  const { csrf } = (request.body ?? {}) as { csrf?: unknown };
  const given = Buffer.from(typeof csrf === 'string' ? csrf : '');
  const expected = Buffer.from(visitor.csrf);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Refusal(403, 'This form is out of date and was not sent. Please go back, reload and try again.');
  }
}

/** @throws Refusal for a viewer, after noting it. */
export async function requireOperator(request: Request, visitor: Visitor) {
  if (visitor.role === 'operator') return;
  const target = `${request.method} ${request.path}`;
  const deed = { operator: visitor.name, address: visitor.address, action: 'act', target } as const;
  await audit(deed, 'refused', 'a viewer may only look');
  throw new Refusal(403, 'You are a viewer: you may look at everything and change nothing.');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
