// Puts the table of routes on an express router: authenticate, read, handle, answer; and says what else a path could do.
import { type Request, type Response, Router } from 'express';
import { AppError, fieldProblem, storeUnavailable } from '#libs/errors.ts';
import { holdUsableKey } from '#libs/models/accounts/api-key.ts';
import { type Id, isId } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import { isUnanswered } from '#libs/mongo/errors.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import {
  type BodyPlace,
  type BodyRoom,
  type BodyRoomLimits,
  bytesToCome,
  openBodyRoom,
  type RoomRejections,
} from '../limits/byte-capacity.ts';
import { withConcurrencyLimit } from '../limits/concurrency-limit.ts';
import type { Rates } from '../limits/rate-limit.ts';
import { errorOf } from '../printing/admission.ts';
import type { PrintDocument } from '../printing/print-document.ts';
import { authenticate, requireScope } from './authenticate.ts';
import { commitFor } from './commit.ts';
import type { CrashPoint } from './crash-points.ts';
import { listOf, readCursor, writeCursor } from './cursor.ts';
import { entityTag, isKnown, requireMatch, taggedPart } from './entity-tag.ts';
import { type PageQuery, pageLinks } from './page.ts';
import { bodyReader } from './read-body.ts';
import { bodyBytesOf, jsonReader } from './read-json.ts';
import { queryReader } from './read-query.ts';
import type { Answer } from './response.ts';
import { type Caller, type Context, hasCursor, isPrintedFromBody, type Route } from './route.ts';

const BODY_LIMIT_BYTES = 256 * 1024;
/** A hundred invoices as long as they get are 26 MB of JSON: this is for a gateway of 768 MiB that has two such callers. */
const LARGE_AT_ONCE = 4;
const MIB = 1024 * 1024;
/** So many lists at their longest and a little more; of all accounts what a gateway of 768 MiB has left. */
const RESPONSE_LIMITS: BodyRoomLimits = { perAccount: 144 * MIB, all: 256 * MIB };
const OF_RESPONSES: RoomRejections = {
  full: { status: 503, message: 'Too many responses are waiting to be read, retry later', seconds: 2 },
  overShare: { status: 429, message: 'Too many responses are waiting to be read', seconds: 1 },
};
const TOO_MANY_LARGE = 'Too many lists are being read at the same time';

export interface ServeOptions {
  /** Called after a commit that wrote events. */
  nudge: () => void;
  /** Called at every step of a write, see commit.ts. */
  passing?: ((point: CrashPoint) => void) | undefined;
  /** Without it nothing is limited. */
  rates?: Rates | undefined;
  /** Without it nothing is refused for want of room. */
  print?: PrintDocument;
  /** Bytes of responses that wait to be read. */
  responseLimits?: BodyRoomLimits;
}

export function serveRoutes(routes: readonly Route[], options: ServeOptions): Router {
  const router = Router({ caseSensitive: true });
  const rooms = {
    bodies: openBodyRoom(),
    responses: openBodyRoom(options.responseLimits ?? RESPONSE_LIMITS, OF_RESPONSES),
  };
  for (const [path, rows] of byPath(routes)) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const row of rows) router[row.method](pattern, server(row, options, rooms));
    const methods = rows.map(({ method }) => method.toUpperCase());
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
    router.all(pattern, () => {
      throw new AppError(405, 'Method not allowed', { headers: { Allow: allow } });
    });
  }
  return router;
}

/** Paths without parameters first: `/webhooks/doctor` is no webhook called `doctor`, whatever the method. */
function byPath(routes: readonly Route[]): [string, Route[]][] {
  const paths = Map.groupBy(routes, ({ path }) => path);
  return [...paths].toSorted(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')));
}

/** Whatever can be found out about a row is found out once, not on every request. */
function server(row: Route, options: ServeOptions, rooms: Record<'bodies' | 'responses', BodyRoom>) {
  const hasId = row.path.includes('{id}');
  const isRead = row.method === 'get';
  const isPaged = isRead && hasCursor(row);
  const isList = isRead && row.query !== undefined && 'limit' in (row.query.describe()['keys'] ?? {});
  const missing = () => new AppError(404, row.missing ?? 'Not found');
  const readQuery = queryReader(row.query, row.details);
  const limit = row.bodyLimitBytes ?? BODY_LIMIT_BYTES;
  const readJson = jsonReader(limit);
  const readBody = row.body ? bodyReader(row.body, { ...row, isChange: row.method === 'patch' }) : undefined;

  const bodyOf =
    readBody &&
    (async (request: Request, response: Response, accountId: Id) => {
      // It stays in memory until it is answered.
      const place = takeUntilClosed(rooms.bodies, { accountId, bytes: bytesToCome(request, limit) }, response);
      const json = await readJson(request, response);
      place.shrink(bodyBytesOf(request));
      row.before?.(json);
      return readBody(json);
    });

  return async (request: Request, response: Response) => {
    const caller = await admitted(row, options.rates, request, response);
    const refused = isPrintedFromBody(row) ? options.print?.admission?.rejection(caller.accountId) : undefined;
    if (refused) throw errorOf(refused);
    const id = idOf(request);
    // An id that cannot exist is answered like an id that does not exist.
    if (hasId && !isId(id)) throw missing();
    const parameters = readParameters(row, request);
    if (!parameters) throw missing();
    const query = readQuery(request.originalUrl);
    const list = isPaged ? listOf(request.baseUrl + request.path, query as object) : '';
    if (isPaged) readAfter(query as PageQuery, list, row.details);
    // Not before the caller is known and admitted: to judge a body costs more than to refuse a stranger.
    const body = await bodyOf?.(request, response, caller.accountId);
    const requestId = String(request.id);
    const { accountId } = caller;
    const isDryRun = (query as { dry_run?: boolean }).dry_run === true;
    const context: Context = {
      caller,
      id,
      parameters,
      body,
      query,
      missing,
      requestId,
      request,
      response,
      log: request.log,
      commit: commitFor({
        request,
        accountId,
        requestId,
        isDryRun,
        first: row.outlastsKey ? (session) => recheckKey(caller, session) : undefined,
        ...options,
      }),
      requireMatch: (data) => requireMatch(request, data, row.untagged),
    };
    const respond = async () => {
      const answer = await (isRead
        ? readAfterElection(
            () => row.handler(context),
            () => response.headersSent || response.closed,
          )
        : row.handler(context));
      if (!answer) return;
      const takeRoom = (bytes: number) => takeUntilClosed(rooms.responses, { accountId, bytes }, response);
      send(request, response, answer, row, { list, takeRoom });
    };
    await (isList ? limitLargeResponses(`${accountId} ${row.operation}`, response, respond) : respond());
  };
}

/** A caller that left while its key was looked up closes no response any more. */
function takeUntilClosed(room: BodyRoom, wanted: { accountId: Id; bytes: number }, response: Response): BodyPlace {
  const place = room.take(wanted);
  if (response.closed) place.free();
  else response.once('close', place.free);
  return place;
}

/** At the caller's key, which another request may have ended or given an end since this one was let in. */
async function recheckKey(caller: Caller, session: Session) {
  const { expires_at } = await holdUsableKey(caller.accountId, caller.keyId, session);
  caller.expiresAt = expires_at ?? undefined;
}

/** When a store last gave no answer to a list: a caller that waited behind it has not asked for too much. */
let unansweredAt = Number.NEGATIVE_INFINITY;

/** An account has few lists of one kind at a time, the next waits: a list takes three times its size while it is made, and its size until it is read. */
async function limitLargeResponses(name: string, response: Response, respond: () => Promise<void>) {
  const since = performance.now();
  const respondWhole = async () => {
    if (response.closed) return; // The caller has gone while it waited.
    try {
      await respond();
    } catch (error) {
      if (isUnanswered(error)) unansweredAt = performance.now();
      throw error;
    }
    if (!response.closed) await new Promise((resolve) => response.once('close', resolve));
  };
  const late = () =>
    unansweredAt > since ? storeUnavailable() : new AppError(429, TOO_MANY_LARGE, { headers: { 'Retry-After': '1' } });
  await withConcurrencyLimit(`large ${name}`, respondWhole, { atOnce: LARGE_AT_ONCE, late });
}

/** @returns undefined when one of them cannot be. */
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

async function admitted(row: Route, rates: Rates | undefined, request: Request, response: Response) {
  try {
    const caller = await readAfterElection(() => authenticate(request));
    // What a key may not do counts as well: it costs us the same.
    await rates?.admit(request, response, caller, row);
    if (!row.needsNoScope?.(caller, idOf(request))) requireScope(caller, row.scope);
    return caller;
  } catch (error) {
    if (error instanceof AppError && error.status === 401) await rates?.refuse(request, response);
    throw error;
  }
}

/** The cursor becomes the position it stands for. @throws AppError 400 when it is none of this list, or comes with an offset. */
function readAfter(query: Omit<PageQuery, 'after'> & { after?: unknown }, list: string, details: Route['details']) {
  if (typeof query.after !== 'string') return;
  if (query.offset > 0) throw fieldProblem('after', 'after and offset exclude each other', details);
  const position = readCursor(list, query.after);
  if (typeof position === 'string') throw fieldProblem('after', position, details);
  query.after = position;
}

function send(
  request: Request,
  response: Response,
  { status, body, headers, next }: Answer,
  { untagged }: Route,
  { list, takeRoom }: { list: string; takeRoom: (bytes: number) => void },
) {
  const json = JSON.stringify(body);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  // The response to a change is small, and sent whatever else waits: the change has happened.
  if (isRead) takeRoom(Buffer.byteLength(json));
  const { pagination } = body as { pagination?: PageQuery & { total: number } };
  if (pagination) response.set('Link', pageLinks(request.originalUrl, pagination, next && writeCursor(list, next)));
  response.status(status).set(headers ?? {});
  if (isRead && status === 200 && !pagination) {
    const tag = entityTag(untagged ? taggedPart(body, untagged) : json);
    response.set('ETag', tag);
    // What the tag leaves out may be new to who has the rest.
    if (!untagged && isKnown(request, tag)) return response.status(304).end();
  }
  return response.set('Content-Type', 'application/json; charset=utf-8').send(json);
}
