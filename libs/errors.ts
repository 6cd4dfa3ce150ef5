// Expected failures: `message` is for the caller, `cause` is for the log. Any other Error is a bug or an outage: the
// caller gets no detail, the log gets everything.

/** Messages by field name, or a flat list: the two shapes of `details` in the specification. */
export type Details = Record<string, string[]> | string[];

/** An expected failure. @property status HTTP status the caller gets. @property headers extra response headers, such as `Retry-After`. */
export class AppError extends Error {
  readonly status: number;
  readonly details: Details | undefined;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    message: string,
    options: { details?: Details; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.status = status;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

/** Returns the 400 of the specification with all problems. */
export function validationFailed(details: Details) {
  return new AppError(400, 'Validation failed', { details });
}

/** The shape of `details`: a list for quotes, messages by field name for everything else. */
export type DetailsForm = 'list' | 'by-field';

export interface Problem {
  path: readonly (string | number)[];
  message: string;
}

/** Returns a 400 about one field, for a problem that only shows when fields are put together. */
export function fieldProblem(field: string, message: string, details: DetailsForm = 'by-field') {
  return validationFailed(detailsOf([{ path: [field], message }], details));
}

/** Returns problems in the form that the operation uses. */
export function detailsOf(problems: readonly Problem[], form: DetailsForm = 'by-field'): Details {
  if (form === 'list') return problems.map(({ message }) => message);
  const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const { path, message } of problems) {
    const field = path.join('.') || 'body';
    fields[field] = [...(fields[field] ?? []), message];
  }
  return fields;
}

// An absent, a wrong and a revoked key have the same text, so that it does not help an attacker.
export function unauthorized() {
  return new AppError(401, 'Unauthorized: Invalid or revoked API key', { headers: { 'WWW-Authenticate': 'Bearer' } });
}

export function lacksScope(scope: string) {
  return new AppError(403, `Forbidden: API key lacks the ${scope} scope`);
}

/**
 * Returns a 404. The specification has two texts: `notFound('Quote')` for reads, `notFound('Quote', 'or access
 * denied')` for everything else.
 */
export function notFound(what: string, suffix: 'or access denied' | '' = '') {
  return new AppError(404, suffix ? `${what} not found ${suffix}` : `${what} not found`);
}

/** The error for more than one document can take. A smaller part may fit. */
export class TooMuch extends AppError {
  constructor(message: string) {
    super(409, message);
  }
}

/** Returns a 409. @param message for the caller. */
export function conflict(message: string, headers: Record<string, string> = {}) {
  return new AppError(409, message, { headers });
}

/** Returns a 503. @param seconds whole seconds after which a retry makes sense. */
export function unavailable(message: string, seconds: number, cause?: unknown) {
  return new AppError(503, message, { headers: { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) }, cause });
}

/**
 * Returns the 503 for a store that is unavailable, or has not caught up after an election.
 * @param cause its error, if any.
 */
export function storeUnavailable(cause?: unknown) {
  return unavailable('The service is temporarily unavailable', 1, cause);
}

/** True for an error that a mistake in the code throws. Another try gives the same. */
export function isBug(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind);
}

/** Returns the text of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
