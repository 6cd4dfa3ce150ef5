// The failures of every operation, derived from its row of the table of routes.
import {
  type AppError,
  appError,
  errorBody,
  type MissingText,
  notFound,
  storeUnavailable,
  unauthorized,
} from '#libs/errors.ts';
import { honoursIdempotencyKey, honoursIfMatch, isRendered, type Route } from '../http/route.ts';

type Response = { description: string; headers?: object; content?: object };

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const header = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });

function failure(description: string, error: AppError, headers: object = {}, schema = 'Failure'): Response {
  return {
    description,
    headers: { ...header('X-Request-Id'), ...headers },
    content: { 'application/json': { schema: reference(schema), example: errorBody(error) } },
  };
}

/** Named once in the components, because every operation has them. */
export const sharedResponses: Record<string, Response> = {
  Unauthorized: failure(
    'The key is missing, malformed, unknown, expired or revoked',
    unauthorized(),
    header('WWW-Authenticate'),
  ),
  Forbidden: failure('The key lacks the scope of this operation', appError('scope_missing', { scope: '<scope>' })),
  NotModified: {
    description: 'It is still what `If-None-Match` names',
    headers: { ...header('X-Request-Id'), ...header('ETag') },
  },
  PreconditionFailed: failure('The record is no longer the one that `If-Match` names', appError('record_changed')),
  TooLarge: failure('The body is larger than this operation takes', appError('body_too_large')),
  WrongContentType: failure('The body is not `application/json`', appError('content_type_not_json')),
  IdempotencyMismatch: failure(
    'The `Idempotency-Key` was used with another request',
    appError('idempotency_key_reused'),
  ),
  TooManyRequests: failure('Over the rate limit', appError('rate_limited'), header('Retry-After')),
  Unavailable: failure(
    'Overloaded, or a store is unavailable. A retry is safe; where something is stored, with the same `Idempotency-Key`',
    storeUnavailable(),
    header('Retry-After'),
  ),
  InternalError: failure('Our fault. The log has the reason under the request id', appError('internal_error')),
};

const shared = (name: keyof typeof sharedResponses & string) => ({ $ref: `#/components/responses/${name}` });

export function failuresOf(row: Route): Record<string, unknown> {
  const missing = row.missing ?? row.docs.missingReference;
  const invalid = row.details === 'list' ? 'ValidationFailedAsList' : 'ValidationFailed';
  return {
    // A query parameter that is not known is wrong everywhere.
    400: validation(row, invalid),
    401: shared('Unauthorized'),
    403: shared('Forbidden'),
    ...(missing ? { 404: missingOf(row, missing) } : {}),
    ...(row.docs.conflict || honoursIdempotencyKey(row) ? { 409: conflict(row) } : {}),
    ...(honoursIfMatch(row) ? { 412: shared('PreconditionFailed') } : {}),
    ...(row.body ? { 413: shared('TooLarge'), 415: shared('WrongContentType') } : {}),
    ...unprocessable(row),
    429: shared('TooManyRequests'),
    500: shared('InternalError'),
    503: shared('Unavailable'),
    ...(isRendered(row) || row.alsoPrints
      ? {
          422: failure(
            'The document takes too much work, or ends the browser each time',
            appError('document_not_printable'),
          ),
          504: failure('The document was not ready in time', appError('document_late')),
        }
      : {}),
  };
}

function unprocessable(row: Route): Record<number, unknown> {
  if (!row.isPrinted) return honoursIdempotencyKey(row) ? { 422: shared('IdempotencyMismatch') } : {};
  const mismatch = honoursIdempotencyKey(row) ? ', or the `Idempotency-Key` was used with another request' : '';
  return {
    422: failure(
      `Its texts take too much work to print${mismatch}`,
      appError('document_texts_too_long', { pages: 212, limit: 115 }),
    ),
  };
}

function validation(row: Route, schema: string): Response {
  const parts = [
    'The input is not valid. All problems are named at once',
    ...(row.precheckBody ? ['; a missing required field has a text of its own'] : []),
    ...(row.method === 'patch' ? ['; without any known field: `No valid fields to update`'] : []),
  ];
  return failure(
    parts.join(''),
    row.method === 'patch' ? appError('no_valid_fields') : appError('validation_failed'),
    {},
    schema,
  );
}

function missingOf(row: Route, text: MissingText): Response {
  const where = row.body
    ? 'Unknown or of another account: the id of the path or a reference of the body'
    : 'Unknown, of another account, or not an id at all';
  return failure(where, notFound(text), {}, row.docs.namesMissing ? 'ValidationFailed' : 'Failure');
}

function conflict(row: Route): Response {
  const error = row.docs.conflict;
  return error
    ? failure(error.message, error)
    : failure('A request with the same `Idempotency-Key` is still running', appError('idempotency_key_running'));
}
