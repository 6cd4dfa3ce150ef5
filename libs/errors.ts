// Expected failures: code, `message` and parameters are for the caller, `cause` is for the log. Any other Error is a bug or an outage: the
// caller gets no detail, the log gets everything.
import { ERRORS, type ErrorCode } from './errors/declared.ts';
import { isWithoutField, PROBLEMS, type ProblemCode } from './errors/problems.ts';
import { fill, type GapsOf, type Params, type ParamValue } from './errors/template.ts';

export type { ErrorCode, Params, ProblemCode };

/** Messages by field name, or a flat list: the two shapes of `details` in the specification. */
export type Details = Record<string, string[]> | string[];

/** The shape of `details`: a list for quotes, messages by field name for everything else. */
export type DetailsForm = 'list' | 'by-field';

/** Something wrong with one field. */
export interface Problem {
  path: readonly (string | number)[];
  code: ProblemCode;
  message: string;
  params?: Params | undefined;
}

/** True for a code that this release declares. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}

interface AppErrorOptions {
  /** Names what is wrong with fields. @see DetailsForm for `form`. */
  problems?: readonly Problem[] | undefined;
  form?: DetailsForm | undefined;
  /** Extra response headers, such as `Retry-After`. */
  headers?: Record<string, string> | undefined;
  cause?: unknown;
}

/** An expected failure. `appError` makes it from its declaration. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** The HTTP status that the caller gets. */
  readonly status: number;
  readonly params: Params;
  readonly problems: readonly Problem[];
  readonly details: Details | undefined;
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string,
    {
      status = ERRORS[code].status,
      params = {},
      problems = [],
      form,
      headers = {},
      cause,
    }: AppErrorOptions & { params?: Params | undefined; status?: number } = {},
  ) {
    super(message, { cause });
    this.name = 'AppError';
    this.code = code;
    this.status = status;
    this.params = params;
    this.problems = problems;
    this.details = problems.length > 0 ? detailsOf(problems, form) : undefined;
    this.headers = headers;
  }
}

type TextOf<Code extends ErrorCode> = (typeof ERRORS)[Code]['text'];
type ExtraOf<Code extends ErrorCode> = keyof NonNullable<(typeof ERRORS)[Code]['extra']>;
/** The parameters of an error: those that its text contains, and those that are declared beside it. */
type ParamsOf<Code extends ErrorCode> = Readonly<Record<GapsOf<TextOf<Code>> | ExtraOf<Code>, ParamValue>>;

type Arguments<Code extends ErrorCode> = [keyof ParamsOf<Code>] extends [never]
  ? [params?: undefined, options?: AppErrorOptions]
  : [params: ParamsOf<Code>, options?: AppErrorOptions];

/** Returns the error that is declared under `code`. */
export function appError<Code extends ErrorCode>(code: Code, ...[params, options]: Arguments<Code>): AppError {
  const given: Params = params ?? {};
  return new AppError(code, fill(ERRORS[code].text, given), { ...options, params: given });
}

/** The body of the response to an error. */
export interface ErrorBody {
  error: string;
  details?: Details;
  code: ErrorCode;
  /** The values in the text, by name. */
  params: Params;
  problems?: ProblemBody[];
}

export interface ProblemBody {
  field: string;
  code: ProblemCode;
  message: string;
  params: Params;
}

/** Returns what the caller gets of an error. */
export function errorBody({ message, details, code, params, problems }: AppError): ErrorBody {
  return {
    error: message,
    ...(details ? { details } : {}),
    code,
    params,
    ...(problems.length > 0 ? { problems: problems.map(problemBody) } : {}),
  };
}

/** Returns a problem as responses show it. */
export function problemBody({ path, code, message, params = {} }: Problem): ProblemBody {
  return { field: fieldOf(path), code, message, params };
}

/** Returns the problem as a text that names its field. */
export function problemText({ field, code, message }: Pick<ProblemBody, 'field' | 'code' | 'message'>): string {
  return isWithoutField(code) ? `${field} ${message}` : message;
}

function fieldOf(path: Problem['path']): string {
  return path.join('.') || 'body';
}

/** Returns the 400 of the specification with all problems. */
export function validationFailed(problems: readonly Problem[], form: DetailsForm = 'by-field') {
  return appError('validation_failed', undefined, { problems, form });
}

type ProblemParams<Code extends ProblemCode> = Readonly<
  Record<Exclude<GapsOf<(typeof PROBLEMS)[Code]['text']>, 'field'>, ParamValue>
>;

type ProblemArguments<Code extends ProblemCode> = [keyof ProblemParams<Code>] extends [never]
  ? [params?: undefined]
  : [params: ProblemParams<Code>];

/** Returns the problem that is declared under `code`. @param field as its text names it. */
export function problemOf<Code extends ProblemCode>(
  field: string,
  code: Code,
  ...[params]: ProblemArguments<Code>
): Problem {
  const given: Params = params ?? {};
  return { path: [field], code, message: fill(PROBLEMS[code].text, { ...given, field }), params: given };
}

type FieldProblemArguments<Code extends ProblemCode> = [keyof ProblemParams<Code>] extends [never]
  ? [params?: undefined, form?: DetailsForm]
  : [params: ProblemParams<Code>, form?: DetailsForm];

/** Returns a 400 about one field, for a problem that only shows when fields are put together. */
export function fieldProblem<Code extends ProblemCode>(
  field: string,
  code: Code,
  ...[params, form]: FieldProblemArguments<Code>
): AppError {
  return validationFailed([problemOf(field, code, ...([params] as ProblemArguments<Code>))], form);
}

/** Returns problems in the form that the operation uses. */
function detailsOf(problems: readonly Problem[], form: DetailsForm = 'by-field'): Details {
  if (form === 'list') return problems.map((problem) => problemText(problemBody(problem)));
  const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const { path, message } of problems) {
    const field = fieldOf(path);
    fields[field] = [...(fields[field] ?? []), message];
  }
  return fields;
}

// An absent, a wrong and a revoked key have the same text, so that it does not help an attacker.
export function unauthorized() {
  return appError('unauthorized', undefined, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

/** The records that an error may not find, by their name in texts. */
const NOT_FOUND = {
  Account: 'account_not_found',
  Allocation: 'allocation_not_found',
  Attachment: 'attachment_not_found',
  'API key': 'api_key_not_found',
  'Batch of documents': 'batch_not_found',
  Client: 'client_not_found',
  'Credit note': 'credit_note_not_found',
  Delivery: 'delivery_not_found',
  Document: 'document_not_found',
  Event: 'event_not_found',
  Expense: 'expense_not_found',
  'Hour package': 'hour_package_not_found',
  Invoice: 'invoice_not_found',
  Item: 'item_not_found',
  Link: 'link_not_found',
  'Mail server': 'mail_server_not_found',
  'Mail template': 'mail_template_not_found',
  Message: 'message_not_found',
  Payment: 'payment_not_found',
  Project: 'project_not_found',
  Question: 'question_not_found',
  Quote: 'quote_not_found',
  'Recurring invoice': 'recurring_invoice_not_found',
  'Stripe settings': 'stripe_settings_not_found',
  Suppression: 'suppression_not_found',
  Task: 'task_not_found',
  'Time entry': 'time_entry_not_found',
  Timer: 'timer_not_found',
  Webhook: 'webhook_not_found',
  'Write-off': 'write_off_not_found',
} as const satisfies Record<string, ErrorCode>;

type Noun = keyof typeof NOT_FOUND;

/** The text of a 404. The specification has one for reads, and one for everything else. */
export type MissingText = `${Noun} not found` | `${Noun} not found or access denied`;

/** Returns a 404. Both of its texts have one code. */
export function notFound(text: MissingText): AppError {
  const noun = text.replace(/ not found.*$/, '') as Noun;
  return new AppError(NOT_FOUND[noun], text);
}

/** Returns the headers of an error after which a retry makes sense. */
export function retryAfter(seconds: number) {
  return { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) };
}

/**
 * Returns the 503 for a store that is unavailable, or has not caught up after an election.
 * @param cause its error, if any.
 */
export function storeUnavailable(cause?: unknown) {
  return appError('service_unavailable', undefined, { headers: retryAfter(1), cause });
}

/** True for an error that a mistake in the code throws. Another try gives the same. */
export function isBug(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind);
}

/** Returns the text of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
