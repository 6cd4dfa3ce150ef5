// The only place where an error becomes a response.
import type { NextFunction, Request, Response } from 'express';
import { AppError, storeUnavailable } from '#libs/errors.ts';
import { isUnanswered } from '#libs/mongo/errors.ts';
import { NOT_JSON, NOT_UTF8, TOO_LONG_TEXT, TOO_LONG_VALUE, TOO_MANY_TEXT, TOO_MANY_VALUES } from './read-json.ts';
import type { Context } from './route.ts';

export function errorHandler(error: unknown, request: Request, response: Response, next: NextFunction) {
  if (response.headersSent) return next(error);
  const known = asAppError(error);
  if (known) {
    // An error without a cause is a plain rejection. The request's own log line is enough for it.
    if (known.status >= 500 && known.cause !== undefined) request.log.warn({ err: error }, 'request failed');
    const json = JSON.stringify({ error: known.message, ...(known.details ? { details: known.details } : {}) });
    (response.locals['reserve'] as Context['reserve'] | undefined)?.(Buffer.byteLength(json), true);
    response.status(known.status).set(known.headers).type('json').send(json);
  } else {
    request.log.error({ err: error }, 'request failed');
    response.status(500).json({ error: 'Internal server error' });
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
      return new AppError(400, 'Request body is not valid JSON', { cause: error });
    case NOT_UTF8:
      return new AppError(400, 'Request body is not valid UTF-8', { cause: error });
    case TOO_LONG_VALUE:
      return new AppError(400, TOO_LONG_TEXT, { cause: error });
    case TOO_MANY_VALUES:
      return new AppError(400, TOO_MANY_TEXT, { cause: error });
    case 'entity.too.large':
      return new AppError(413, 'Request body is too large', { cause: error });
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new AppError(415, 'Unsupported content encoding or charset', { cause: error });
    case 'request.aborted':
    case 'request.size.invalid':
      return new AppError(400, 'Request body is incomplete', { cause: error });
    default:
      // The router rejects a path that is not valid percent-encoding.
      return error instanceof URIError || status === 400
        ? new AppError(400, 'Malformed request', { cause: error })
        : undefined;
  }
}
