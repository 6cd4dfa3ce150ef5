// One request from its key to its response: authenticate, read the input, run the handler, send.
import type { Request, Response } from 'express';
import { AppError, appError, fieldProblem, notFound, validationFailed } from '#libs/errors.ts';
import type { FairLimit } from '#libs/fair-limit.ts';
import { type ByteCapacity, bytesToCome, reserveUntilClosed } from '#libs/http/byte-capacity.ts';
import { errorOf } from '#libs/http/rejection.ts';
import { lockUsableKey, type Scope } from '#libs/models/accounts/api-key.ts';
import { findOwn } from '#libs/models/records.ts';
import { type Id, isId } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { limitLargeResponses } from '../limits/large-responses.ts';
import type { Rates } from '../limits/rate-limit.ts';
import type { RequestFairShare } from '../limits/request-fair-share.ts';
import { authenticate, requireScope } from './authenticate.ts';
import { commitFor } from './commit.ts';
import { listIdentity, readCursor } from './cursor.ts';
import { requireMatch } from './entity-tag.ts';
import { nameOperation } from './measure.ts';
import type { PageQuery } from './page.ts';
import type { GatewayParts } from './parts.ts';
import { bodyReader } from './read-body.ts';
import { bodyBytesOf, jsonReader, rawReader } from './read-json.ts';
import { queryReader } from './read-query.ts';
import { withIgnored } from './response.ts';
import {
  ALWAYS,
  type Caller,
  type Context,
  hasCursor,
  isList,
  isPrintedFromBody,
  isRendered,
  type Route,
} from './route.ts';
import { sendResponse } from './send-response.ts';

const BODY_LIMIT_BYTES = 256 * 1024;

export interface HandleOptions {
  parts: GatewayParts;
  /** The single read of the record that the operation is about. */
  single?: Route | undefined;
  /** Rate limits. Unless given, nothing is rate limited. */
  rates?: Rates | undefined;
  capacity: { bodies: ByteCapacity; responses: ByteCapacity };
  /** Fair share between accounts that send large bodies. */
  bodyLimit: FairLimit;
  requestFairShare: RequestFairShare;
}

/** Returns the handler of a row. It computes once, not on every request, all that depends on the row alone. */
export function requestHandler(row: Route, options: HandleOptions) {
  const { parts, rates, capacity, requestFairShare, single } = options;
  const hasId = row.path.includes('{id}');
  const isRead = row.method === 'get';
  const isPaged = isRead && hasCursor(row);
  const isLarge = isList(row) || row.isLarge === true;
  const missing = () => (row.missing ? notFound(row.missing) : appError('route_not_found'));
  const readQuery = queryReader(row.query, row.details);
  const readBody = openBodyReader(row, options);

  return async (request: Request, response: Response) => {
    nameOperation(response, row.operation);
    const caller = await admit(row, rates, request, response);
    const { accountId } = caller;
    const reserve = (bytes: number, isCertain = false) =>
      void reserveUntilClosed(capacity.responses, { accountId, bytes, isCertain }, response);
    // An error may name hundreds of fields.
    response.locals['reserve'] = reserve;
    const requestId = String(request.id);
    // Documents are shared by their admission.
    if (isPrintedFromBody(row)) requireAdmission(parts, accountId, requestId);
    else await requestFairShare.start(accountId, response);
    const id = idOf(request);
    // An id that cannot exist gets the same response as an unknown one.
    if (hasId && !isId(id)) throw missing();
    const parameters = readParameters(row, request);
    if (!parameters) throw missing();
    // Reads are rejected when their size is known. A change cannot be taken back then, and a document has been printed.
    if (!isRead || isRendered(row)) capacity.responses.requireRoom(accountId);
    const query = readQuery(request.originalUrl, caller.account);
    const list = isPaged ? listIdentity(request.baseUrl + request.path, query as object) : '';
    if (isPaged) readAfter(query as PageQuery, list, row.details);
    // The body is read after the caller is admitted, because validating a body costs more than rejecting a stranger.
    const { body, raw, ignored } = (await readBody?.(request, response, caller)) ?? NO_BODY;
    const context: Context = {
      caller,
      id,
      parameters,
      body,
      raw,
      ignored,
      query,
      missing,
      requireScope(scope) {
        if (!row.alsoNeeds?.[scope]) throw new Error(`${row.operation} does not say that it may need ${scope}`);
        requireScope(caller, scope);
      },
      async requireRecord(records, session) {
        const record = await findOwn(records, accountId, id, session);
        if (!record) throw missing();
        return record;
      },
      parts: row.alsoPrints ? withCountedPrints(parts, rates, { request, response }) : parts,
      requestId,
      request,
      response,
      reserve,
      log: request.log,
      commit: commitFor({
        request,
        accountId,
        keyId: caller.keyId,
        requestId,
        isDryRun: (query as { dry_run?: boolean }).dry_run === true,
        precondition:
          single &&
          ((session) =>
            requireMatch(request, single, { reading: { caller, id, parameters, parts, session }, missing })),
        beforeWork: row.rechecksKey ? (session) => recheckKey(caller, session) : undefined,
        quotaBytes: mayExceedQuota(row) ? undefined : parts.quotas?.records,
        nudge: parts.nudge,
      }),
    };
    const respond = async () => {
      const handled = await (isRead
        ? readAfterElection(
            () => row.handler(context),
            () => response.headersSent || response.closed,
          )
        : row.handler(context));
      if (!handled) return;
      sendResponse({ request, response }, withIgnored(handled, ignored), { row, list, reserve });
    };
    const { operation } = row;
    await (isLarge ? limitLargeResponses({ accountId, operation, response }, requestFairShare, respond) : respond());
  };
}

/** Rejects a document before its body is read. @throws AppError while no document of the account would be admitted. */
function requireAdmission({ print }: GatewayParts, accountId: Id, requestId: string): void {
  const rejected = print.admission?.rejection(accountId, requestId);
  if (rejected) throw errorOf(rejected);
}

/** Returns the parts for an operation that prints for some requests only: a print counts when it happens. */
function withCountedPrints(
  parts: GatewayParts,
  rates: Rates | undefined,
  { request, response }: { request: Request; response: Response },
): GatewayParts {
  const print: GatewayParts['print'] = async (job) => {
    await rates?.admitPrint(request, response);
    return parts.print(job);
  };
  return { ...parts, print };
}

/** Deletions make room, and the law asks for some changes. */
function mayExceedQuota({ method, isAllowedOverQuota }: Route): boolean {
  return method === 'delete' || isAllowedOverQuota === true;
}

/** The body of a request, as a handler gets it. */
interface ReadBody {
  body: unknown;
  raw: Buffer | undefined;
  ignored: readonly string[];
}

const NO_BODY: ReadBody = { body: undefined, raw: undefined, ignored: [] };

function openBodyReader(row: Route, { capacity, bodyLimit }: HandleOptions) {
  if (!row.body) return undefined;
  const limit = row.bodyLimitBytes ?? BODY_LIMIT_BYTES;
  const readJson = jsonReader(limit, row.valueLimitBytes);
  const readBody = bodyReader(row.body, { ...row, isChange: row.method === 'patch' });
  const { alsoReads } = row;
  const readRaw = alsoReads && rawReader(alsoReads);
  return async (request: Request, response: Response, caller: Caller): Promise<ReadBody> => {
    const { accountId, account } = caller;
    if (alsoReads && readRaw && request.is(alsoReads.type)) {
      const bytes = bytesToCome(request, alsoReads.limitBytes);
      reserveUntilClosed(capacity.bodies, { accountId, bytes }, response);
      return { ...NO_BODY, raw: await readRaw(request, response) };
    }
    // The body stays in memory until the response is sent.
    const permit = reserveUntilClosed(capacity.bodies, { accountId, bytes: bytesToCome(request, limit) }, response);
    const json = await readJson(request, response, { limit: bodyLimit, accountId });
    permit.shrink(bodyBytesOf(request));
    await row.precheckBody?.(json, caller);
    return { ...readBody(json, account), raw: undefined };
  };
}

async function admit(row: Route, rates: Rates | undefined, request: Request, response: Response) {
  try {
    const caller = await readAfterElection(() => authenticate(request));
    // Requests beyond a key's scopes count as well: they cost the same.
    await rates?.admit(request, response, caller, row);
    if (!row.needsNoScope?.(caller, idOf(request))) requireScopes(row, caller);
    return caller;
  } catch (error) {
    if (error instanceof AppError && error.status === 401) await rates?.countRejection(request, response);
    throw error;
  }
}

function requireScopes({ scope, alsoNeeds = {} }: Route, caller: Caller): void {
  const always = Object.keys(alsoNeeds).filter((name) => alsoNeeds[name as Scope] === ALWAYS);
  for (const name of [scope, ...always]) requireScope(caller, name);
}

/** Reads the caller's key again: another request may have revoked it or given it an expiry since this one was admitted. */
async function recheckKey(caller: Caller, session: Session) {
  const { expires_at } = await lockUsableKey(caller.accountId, caller.keyId, session);
  caller.expiresAt = expires_at ?? undefined;
}

/** @returns undefined when a parameter does not fit its shape. */
function readParameters({ parameters = {} }: Route, request: Request): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = {};
  for (const [name, shape] of Object.entries(parameters)) {
    const { error, value } = shape.validate(request.params[name]);
    if (error) return undefined;
    values[name] = value;
  }
  return values;
}

function idOf({ params }: Request): Id {
  return String(params['id'] ?? '').toLowerCase();
}

/** Replaces the cursor by the position it stands for. @throws AppError 400 when it is not of this list, or comes with an offset. */
function readAfter(query: Omit<PageQuery, 'after'> & { after?: unknown }, list: string, details: Route['details']) {
  if (typeof query.after !== 'string') return;
  if (query.offset > 0) {
    const message = 'after and offset exclude each other';
    const params = { others: ['offset'] };
    throw validationFailed([{ path: ['after'], code: 'not_together', message, params }], details);
  }
  const position = readCursor(list, query.after);
  if (typeof position === 'string') throw fieldProblem('after', position, undefined, details);
  query.after = position;
}
