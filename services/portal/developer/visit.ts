// A request by the developer of an account: the session behind it, its rights, and the changes it may make.
import type { Request, Response } from 'express';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { appError } from '#libs/errors.ts';
import { allows, lockUsableKey, type Scope } from '#libs/models/accounts/api-key.ts';
import type { PortalSessionRecord } from '#libs/models/portal/portal-session.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Outbound } from '#libs/outbound/outbound.ts';
import { PageError } from '#libs/pages/page-error.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import type { Logger } from '#libs/service/logger.ts';

/** The parts of the system that pages and actions use. */
export interface Parts {
  /** The guard that checks the URL of an endpoint. */
  outbound: Outbound;
  /** Seals the secrets of endpoints. */
  box: SecretBox;
  /** Nudges the webhook services, because deliveries are due. */
  nudge: () => void;
  /** The bytes of records and events that an account may keep. Any amount unless given. */
  quotaBytes?: number | undefined;
  log: Logger;
}

export interface Visitor {
  accountId: Id;
  accountName: string;
  /** The API key that made the link. */
  keyId: Id;
  /** The scopes that the key has now. */
  scopes: readonly string[];
  session: PortalSessionRecord;
}

export interface Visit extends Parts {
  visitor: Visitor;
  request: Request;
}

/** The text for a session that has ended, or never began. Nothing tells the cases apart. */
export const ENDED = 'This page is no longer open to you. Make a new link with your API key.';

export const ended = () => new PageError(401, ENDED);

export function visitorOf(response: Response): Visitor {
  return response.locals['visitor'] as Visitor;
}

/** True when the key of the link has the scope. */
export function may({ scopes }: Pick<Visitor, 'scopes'>, scope: Scope): boolean {
  return allows(scopes, scope);
}

/** @throws PageError 403 when the key of the link lacks the scope. */
export function requireScope(visitor: Pick<Visitor, 'scopes'>, scope: Scope): void {
  if (!may(visitor, scope)) throw new PageError(403, `The API key of this link lacks the ${scope} scope.`);
}

/**
 * Changes something in one unit of work. The key is read again in its transaction, so that no change has rights that
 * the key has lost. Events that it causes name the link as their request.
 * @throws AppError 401 when the key has ended, PageError 403 when it lacks the scope.
 */
export async function change<Result>(
  { visitor, quotaBytes, nudge }: Visit,
  scope: Scope,
  work: (unit: UnitOfWork) => Promise<Result>,
): Promise<Result> {
  const { accountId, keyId, session: portalSession } = visitor;
  const { result, hasEvents } = await runUnitOfWork(
    {
      accountId,
      by: { type: 'api_key', id: keyId },
      requestId: String(portalSession.link_id),
      quotaBytes,
      beforeWork: async (session) => requireScope(await lockUsableKey(accountId, keyId, session), scope),
    },
    work,
  );
  if (hasEvents) nudge();
  return result;
}

/** Returns the id in the path. @throws AppError 404 when there is none in this form. */
export function idOf({ params }: Request): Id {
  return String(params['id']).toLowerCase();
}

/** Returns the fields of a form. A field that was sent twice counts as absent. */
export function fieldsOf(request: Request): Record<string, string | undefined> {
  const body = (request.body ?? {}) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value === 'string')) as Record<
    string,
    string
  >;
}

export const noSuchEndpoint = () => appError('webhook_not_found');
export const noSuchDelivery = () => appError('delivery_not_found');
