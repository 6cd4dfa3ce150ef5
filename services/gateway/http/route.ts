// One table row for each operation: what runs, what the reference shows and what the tests check all come from it.
import type { Request, Response } from 'express';
import type Joi from 'joi';
import type { AppError, DetailsForm, MissingText } from '#libs/errors.ts';
import type { AccountRecord } from '#libs/models/accounts/account.ts';
import type { Scope } from '#libs/models/accounts/api-key.ts';
import type { Owned, Records } from '#libs/models/records.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Session } from '#libs/mongo/connection.ts';
import type { Logger } from '#libs/service/logger.ts';
import type { Commit } from './commit.ts';
import type { GatewayParts } from './parts.ts';
import { found, type JsonResponse } from './response.ts';
import { fieldsOf } from './shape-fields.ts';

/** The fields of an account that every request needs; readAccount reads the rest. */
export type Profile = Pick<AccountRecord, 'time_zone' | 'mode' | 'max_entry_hours' | 'payment_days'>;

export interface Caller {
  accountId: Id;
  account: Profile;
  keyId: Id;
  /** The id of the first key in the chain of rotations. The key's own id unless it was rotated. */
  firstKeyId: Id;
  scopes: readonly string[];
  /** The time at which the key expires. Undefined when it never does. */
  expiresAt?: Date | undefined;
}

/** The argument of a handler. All of it is read, checked and typed. */
export interface Context<Body = unknown, Query = unknown> {
  caller: Caller;
  /** The `{id}` of the path; a malformed one was rejected before. Empty on paths without one. */
  id: Id;
  /** Other parameters of the path, see Route.parameters. */
  parameters: Record<string, unknown>;
  body: Body;
  /** The body in the media type of Route.alsoReads. */
  raw: Buffer | undefined;
  /** Names of the body that the operation does not know; a JsonResponse says them by itself. */
  ignored: readonly string[];
  query: Query;
  /** One transaction for records, numbers, events and the idempotency record. */
  commit: Commit;
  /** The record of the path. @throws the operation's own 404 when the account has none. */
  requireRecord: <Stored extends Owned>(records: Records<Stored>, session?: Session) => Promise<Stored>;
  /** Checks the scope of a case of Route.alsoNeeds. @throws AppError 403 when the key lacks the scope. */
  requireScope: (scope: Scope) => void;
  /** The operation's own 404. */
  missing: () => AppError;
  /** Printing, outgoing calls, secrets and the like. */
  parts: GatewayParts;
  requestId: string;
  log: Logger;
  /** The request, for streaming and for noticing that the caller has gone, which a JsonResponse cannot express. */
  request: Request;
  response: Response;
  /**
   * Counts the bytes of the response until it is read; what a JsonResponse holds is counted by itself.
   * @param isCertain it is sent in any case. @throws AppError when too many bytes of responses wait to be read.
   */
  reserve: (bytes: number, isCertain?: boolean) => void;
}

/** One read of a record: its caller, and the transaction it runs in. */
export interface Reading extends Pick<Context, 'caller' | 'id' | 'parameters' | 'parts'> {
  session?: Session | undefined;
}

/** @returns the record as a response shows it; nothing when the account has none. */
type ReadRecord = (reading: Reading) => Promise<object | null | undefined>;

/** Fields that only the reference and the generated clients show. Texts are Markdown. */
interface RouteDocs {
  /** A few words for a list of operations, where the summary has more. */
  title?: string;
  /** The effect of the operation, in one sentence without its full stop. */
  summary: string;
  description?: string;
  /** The shape of `data` in a successful response. */
  response?: Joi.Schema;
  /** Fields of a list's response beside `data` and `pagination`. */
  alongside?: Record<string, Joi.Schema>;
  /** A page of the parts of one record: `data` is an object, not a list. */
  isPageOfOne?: boolean;
  /** Status of success, when it is not 201 for POST and 200 for the others. The handler sets the real one. */
  status?: number;
  /** The message of a deletion. */
  message?: string;
  /** True when the response may have `warnings` beside `data`. */
  warns?: true;
  /** An error of 409. */
  conflict?: AppError;
  /** The error text of 404 about a record that the body names. */
  missingReference?: MissingText;
  /** The 404 names in `details` which references of the body were not found. */
  namesMissing?: boolean;
}

/** See Route.alsoNeeds. */
export const ALWAYS = 'always';

export interface Route<Body = unknown, Query = unknown> {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The path in OpenAPI's form: `/api/v1/clients/{id}`. */
  path: string;
  /** OpenAPI's operationId, and the name of the method in generated clients. */
  operation: string;
  scope: Scope;
  /**
   * Scopes that the key needs besides, with the case: ALWAYS, or a clause such as `it has tasks`, whose handler calls `requireScope`. No
   * operation does with another what the key may not do with that one's own.
   */
  alsoNeeds?: Readonly<Partial<Record<Scope, string>>>;
  /** True when this caller needs no scope for this record. @param id as the path has it, in lower case. */
  needsNoScope?: (caller: Caller, id: Id) => boolean;
  body?: Joi.ObjectSchema<Body>;
  /** Fields of a new record that a change cannot set, and the values that null stands for; optional-fields.ts derives both. */
  immutable?: readonly string[];
  defaults?: Readonly<Record<string, unknown>>;
  /** Unknown names in nested objects of the body are ignored: the lines of a document that is only printed may have any. */
  ignoresNestedNames?: boolean;
  /** Checks the raw body first, for the one error that is not `Validation failed`. */
  precheckBody?: (body: unknown, caller: Caller) => Promise<void>;
  /** The shape of `details` in a 400: quotes return a list, all others go by field. */
  details?: DetailsForm;
  query?: Joi.ObjectSchema<Query>;
  /** Parameters of the path besides `{id}`. A value that does not fit is a 404, like an unknown id. */
  parameters?: Record<string, Joi.Schema>;
  bodyLimitBytes?: number;
  /** A media type that the body may also have, for programs that pass on what they got. The handler gets the bytes as `raw`, and no `body`. */
  alsoReads?: { type: string; limitBytes: number };
  /** Bytes of one value that is not an image. Unless given, the limit of read-json.ts applies. */
  valueLimitBytes?: number;
  /** The error text of 404 when `{id}` is malformed, unknown or another account's. */
  missing?: MissingText;
  /** Media type of a response that is not JSON. */
  produces?: string;
  /** Media type of a response that is printed, for some values of the query. Its admission bounds it like other documents. */
  alsoPrints?: string;
  /** Media type of the same content as text, for callers that ask for it by the Accept header. */
  alsoWrites?: string;
  /** The file is stored: it is read like a record, not rendered. */
  isStoredFile?: boolean;
  /** True when the work or the response grows with what is stored. A concurrency limit applies, as to lists. */
  isLarge?: boolean;
  /** Fields of the record that change without a change of the record: its ETag leaves them out. */
  omitFromTag?: readonly string[];
  /** The effect outlasts the key that asked for it: the key is checked once more inside the transaction. */
  rechecksKey?: boolean;
  /** True when the operation stores a document that is printed. One that is too large for a renderer is 422, see libs/billing/documents/printable-size.ts. */
  isPrinted?: boolean;
  /** It works over the quota of the account, as every deletion does. */
  isAllowedOverQuota?: boolean;
  /** A POST that stores nothing: it may be sent again without an `Idempotency-Key`. */
  storesNothing?: boolean;
  docs: RouteDocs;
  /** Reads the single record. `If-Match` of every change of the record is compared with the tag of this read. */
  read?: ReadRecord;
  /** @returns the response, or undefined when the handler has sent it. */
  handler: (context: Context<Body, Query>) => Promise<JsonResponse | undefined>;
}

/** True of an operation that prints what its body contains: it needs a place among the documents in flight. */
export function isPrintedFromBody({ produces, body }: Route): boolean {
  return produces !== undefined && body !== undefined;
}

/** The start of a path that names one record: by its id, by its kind, or as the one that an account has. */
const RECORD_PATH = /^.*?\{(?:id|kind)\}|^\/api\/v1\/account(?:\/[\w-]+)?/;

/** True of an operation that may change one record, see recordPath. */
export function honoursIfMatch({ method, path, storesNothing }: Route): boolean {
  return method !== 'get' && !storesNothing && RECORD_PATH.test(path);
}

/** The path of the record that an operation is about: its single read is the GET of it. */
export function recordPath({ path }: Route): string {
  return RECORD_PATH.exec(path)?.[0] ?? path;
}

/** True of an operation that does its work once for one `Idempotency-Key`. */
export function honoursIdempotencyKey({ method, storesNothing }: Route): boolean {
  return method === 'post' && !storesNothing;
}

/** True of an operation whose file is rendered while the caller waits. */
export function isRendered({ produces, isStoredFile }: Route): boolean {
  return produces !== undefined && !isStoredFile;
}

/** True of an operation whose response is a page. */
export function isList({ method, query }: Route): boolean {
  return method === 'get' && fieldsOf(query).has('limit');
}

/** True of a list whose pages continue after a cursor. The feed of events continues after a sequence instead. */
export function hasCursor({ query }: Route): boolean {
  return fieldsOf(query).get('after')?.type === 'string';
}

type SingleRead = Omit<Route, 'method' | 'handler' | 'read'> & Pick<Partial<Route>, 'handler'> & { read: ReadRecord };

/** The single read of a record. @param row its `handler` is for a response that says more than the record. */
export function singleRead(row: SingleRead): Route {
  const handler: Route['handler'] = async ({ caller, id, parameters, parts, missing }) => {
    const view = await row.read({ caller, id, parameters, parts });
    if (!view) throw missing();
    return found(view);
  };
  return { handler, ...row, method: 'get' };
}

/** Keeps the types of body and query inside one row while the table contains rows of many types. */
export function route<Body, Query>(row: Route<Body, Query>): Route {
  // A row is only ever called with what its own shapes produced, see handle-request.ts.
  return row as unknown as Route;
}
