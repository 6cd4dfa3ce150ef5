// The only place where an error becomes a response.
import type { NextFunction, Request, Response } from 'express';
import { AppError, appError, errorBody, storeUnavailable } from '#libs/errors.ts';
import { isUnanswered } from '#libs/mongo/errors.ts';
import { nameError } from './measure.ts';
import { NOT_JSON, NOT_UTF8, TOO_LONG_VALUE, TOO_MANY_VALUES, VALUE_KIB_MAX, VALUES_MAX } from './read-json.ts';
import type { Context } from './route.ts';

export function errorHandler(error: unknown, request: Request, response: Response, next: NextFunction) {
  if (response.headersSent) return next(error);
  const known = asAppError(error);
  nameError(response, known?.code ?? 'internal_error');
  if (known) {
    // An error without a cause is a plain rejection. The request's own log line is enough for it.
    if (known.status >= 500 && known.cause !== undefined) request.log.warn({ err: error }, 'request failed');
    const json = JSON.stringify(errorBody(known));
    (response.locals['reserve'] as Context['reserve'] | undefined)?.(Buffer.byteLength(json), true);
    response.status(known.status).set(known.headers).type('json').send(json);
  } else {
    request.log.error({ err: error }, 'request failed');
    response.status(500).json(errorBody(appError('internal_error')));
  }
}

function asAppError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  if (isUnanswered(error)) return storeUnavailable(error);
  return fromBodyParser(error);
}

/** Errors of the body parser carry a `type`: https://github.com/expressjs/body-parser#errors */
function fromBodyParser(error: unknown): AppError | undefined {
  const { type = '', status } = (error ?? {}) as { type?: string; status?: number };
  switch (type) {
    case NOT_JSON:
      return appError('body_not_json', undefined, { cause: error });
    case NOT_UTF8:
      return appError('body_not_utf8', undefined, { cause: error });
    case TOO_LONG_VALUE:
      return appError('body_value_too_long', { limit_kib: VALUE_KIB_MAX }, { cause: error });
    case TOO_MANY_VALUES:
      return appError('body_too_many_values', { limit: VALUES_MAX }, { cause: error });
    case 'entity.too.large':
      return appError('body_too_large', undefined, { cause: error });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return appError('encoding_not_supported', undefined, { cause: error });
    case 'request.aborted':
    case 'request.size.invalid':
      return appError('body_incomplete', undefined, { cause: error });
    default:
      // The router rejects a path that is not valid percent-encoding.
      return error instanceof URIError || status === 400
        ? appError('malformed_request', undefined, { cause: error })
        : undefined;
  }
}
