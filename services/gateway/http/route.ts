// One table row for each operation: what runs, what the reference page shows and what the tests check all come from it.
import type { Request, Response } from 'express';
import type Joi from 'joi';
import type { AppError } from '#libs/errors.ts';
import type { AccountRecord } from '#libs/models/accounts/account.ts';
import type { Scope } from '#libs/models/accounts/api-key.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Logger } from '#libs/service/logger.ts';
import type { Commit } from './commit.ts';
import type { Answer } from './response.ts';

/** What of an account every request needs, see readAccount for the rest. */
export type Profile = Pick<AccountRecord, 'time_zone' | 'mode' | 'max_entry_hours'>;

export interface Caller {
  accountId: Id;
  account: Profile;
  keyId: Id;
  scopes: readonly string[];
  /** When the key ends, unless it never does. */
  expiresAt?: Date | undefined;
}

/** What a handler gets: everything is read, checked and typed. */
export interface Context<Body = unknown, Query = unknown> {
  caller: Caller;
  /** The `{id}` of the path; a malformed one was answered before. Empty on paths without one. */
  id: Id;
  /** Other parameters of the path, see Route.parameters. */
  parameters: Record<string, unknown>;
  body: Body;
  query: Query;
  /** One transaction for records, numbers, events and the idempotency record. */
  commit: Commit;
  /** Honours `If-Match`: 412 unless it names what a single read answers now, which `data` gives. */
  requireMatch: (data: () => unknown) => Promise<void>;
  /** The operation's own 404. */
  missing: () => AppError;
  requestId: string;
  log: Logger;
  /** For what the answer cannot say: streaming, and noticing that the caller has gone. */
  request: Request;
  response: Response;
}

export interface Route<Body = unknown, Query = unknown> {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As in OpenAPI: `/api/v1/clients/{id}`. */
  path: string;
  /** OpenAPI's operationId, and the name of the method in generated clients. */
  operation: string;
  summary: string;
  scope: Scope;
  /** True when this caller needs no scope for this record. @param id as the path has it, in lower case. */
  needsNoScope?: (caller: Caller, id: Id) => boolean;
  body?: Joi.ObjectSchema<Body>;
  /** Fields of a new record that a change cannot set, and what null makes of others, see optional-fields.ts. */
  fixed?: readonly string[];
  defaults?: Readonly<Record<string, unknown>>;
  /** Looks at the raw body first, for the one error that is not `Validation failed`. */
  before?: (body: unknown) => void;
  /** The shape of `details`: quotes answer a list, everything else goes by field. */
  details?: 'list' | 'by-field';
  query?: Joi.ObjectSchema<Query>;
  /** Parameters of the path besides `{id}`. A value that is none of theirs is answered like an id that does not exist. */
  parameters?: Record<string, Joi.Schema>;
  bodyLimitBytes?: number;
  /** What a 404 says when `{id}` is malformed, unknown or another account's. */
  missing?: string;
  /** What a 404 says of a record that the body names, where that has to be one of the account's. For the reference. */
  missingReference?: string;
  /** Its 404 names in `details` which references of the body were not found. */
  namesMissing?: boolean;
  /** The shape of a successful answer's `data`, for the reference. */
  answers?: Joi.Schema;
  /** The rest is for the reference too, where it cannot be read from the row. Markdown. */
  description?: string;
  /** Status of success, when it is not 201 for POST and 200 for the others. */
  status?: number;
  /** When it answers 409. */
  conflict?: string;
  /** What a deletion says. */
  message?: string;
  /** A page of the parts of one record: `data` is an object, not a list. */
  isPageOfOne?: boolean;
  /** What a list answers beside `data` and `pagination`. */
  besides?: Record<string, Joi.Schema>;
  /** Media type of an answer that is not JSON. */
  produces?: string;
  /** The file exists already: it is read like a record, not rendered. */
  isKept?: boolean;
  /** Fields of the record that change without anybody having changed it: its tag leaves them out. */
  untagged?: readonly string[];
  /** What it does outlasts the key that asked for it: it is refused when that has ended since the request was let in. */
  outlastsKey?: boolean;
  /** A POST that leaves nothing behind: it may simply be sent again. */
  storesNothing?: boolean;
  /** @returns the answer, or nothing when the handler has answered by itself. */
  handler: (context: Context<Body, Query>) => Promise<Answer | undefined>;
}

/** True of a row that prints what its body holds: it needs room among the documents that wait. */
export function isPrintedFromBody({ produces, body }: Route): boolean {
  return produces !== undefined && body !== undefined;
}

/** True of a row that changes one record, the one that a GET of the same path reads: it honours `If-Match`. */
export function isConditional({ method }: Route): boolean {
  return method === 'patch' || method === 'delete';
}

/** True of a row that does its work once for one `Idempotency-Key`. */
export function isOncePerKey({ method, storesNothing }: Route): boolean {
  return method === 'post' && !storesNothing;
}

/** True of a row whose file a renderer makes while the caller waits. */
export function isRendered({ produces, isKept }: Route): boolean {
  return produces !== undefined && !isKept;
}

/** True of a list whose pages go on after a cursor. The feed of events has the sequence for that. */
export function hasCursor({ query }: Route): boolean {
  const { after } = (query?.describe()['keys'] ?? {}) as { after?: { type: string } };
  return after?.type === 'string';
}

/** Keeps the types of body and query inside one row while the table holds rows of many types. */
export function route<Body, Query>(row: Route<Body, Query>): Route {
  // A row is only ever called with what its own shapes produced, see app.ts.
  return row as unknown as Route;
}
