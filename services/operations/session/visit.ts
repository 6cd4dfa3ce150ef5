// The session behind a request to the dashboard, and the rights of its operator.
import type { NextFunction, Request, Response } from 'express';
import type { Queues } from '#libs/jobs/queue.ts';
import { audit } from '#libs/models/operations/audit-entry.ts';
import { Operator, type OperatorRecord, type OperatorRole } from '#libs/models/operations/operator.ts';
import { findSession } from '#libs/models/operations/operator-session.ts';
import { PageError } from '#libs/pages/page-error.ts';
import type { Logger } from '#libs/service/logger.ts';
import type { BulkRunner } from '../actions/bulk-runner.ts';
import { sessionTokenOf } from './cookies.ts';

export interface Visitor {
  name: string;
  role: OperatorRole;
  /** The token that every form carries. */
  csrf: string;
  address: string;
  token: string;
}

/** The limits of an account. Undefined where there is none. */
export interface AccountLimits {
  /** Documents of all its keys. */
  documentsPerMinute: number | undefined;
  recordBytes: number | undefined;
  fileBytes: number | undefined;
}

/** The parts of the system that pages and actions use. */
export interface DashboardParts {
  queues: Queues;
  log: Logger;
  /** Nudges the webhook services, because deliveries are due. */
  nudge: () => void;
  bulk: BulkRunner;
  limits: AccountLimits;
}

/** The result of an action: the page to redirect to, and the audit entry with its outcome. */
export interface Done {
  to: string;
  entryId?: string;
}

export interface Visit extends DashboardParts {
  visitor: Visitor;
  request: Request;
}

/**
 * A path of this dashboard, with every character that browsers leave as it is in an address. A link to the login must not
 * redirect to another site.
 */
const LOCAL_PATH = /^\/(?![/\\])[!#-;=?-[\]-~]*$/;

/** Admits only requests with a live session. A browser that requests a page is redirected to the login. */
export async function requireSession(request: Request, response: Response, next: NextFunction) {
  const visitor = await findVisitor(request);
  if (visitor) {
    response.locals['visitor'] = visitor;
    return next();
  }
  const isPageView = request.method === 'GET' && request.accepts('html') && !request.get('X-Refresh');
  if (!isPageView) throw new PageError(401, 'Session expired, log in again');
  const back = request.originalUrl === '/' ? '' : `?next=${encodeURIComponent(localPath(request.originalUrl))}`;
  response.redirect(303, `/login${back}`);
}

export function localPath(text: unknown): string {
  return typeof text === 'string' && LOCAL_PATH.test(text) ? text : '/';
}

async function findVisitor(request: Request): Promise<Visitor | undefined> {
  const token = sessionTokenOf(request);
  const session = token ? await findSession(token) : null;
  if (!token || !session) return undefined;
  // The operator is read for every request, so that a removal or a changed role takes effect at once.
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

/** Returns the visitor in the form of the audit log. */
export function actorOf({ name, address }: Visitor) {
  return { operator: name, address };
}

/** Rejects a viewer and records the attempt. @throws PageError 403. */
export async function requireOperator(request: Request, visitor: Visitor) {
  if (visitor.role === 'operator') return;
  const target = `${request.method} ${request.path}`;
  const auditedAction = { ...actorOf(visitor), action: 'act', target } as const;
  await audit(auditedAction, 'refused', 'viewers can change nothing');
  throw new PageError(403, 'Viewers can read everything and change nothing');
}
