// The error of every response that is not a success: `client/generate.ts` puts it in place of the generator's own.
import type { ErrorCode, FieldProblem, ProblemCode } from './generated/billhook.ts';

/** Messages by field, or a list of messages where the input has no fields of its own. */
export type ErrorDetails = Record<string, string[]> | string[];

/** Any text, which leaves editors the known codes to suggest. */
type OtherCode = string & {};

/** The gateway rejected a call, or could not carry it out. Decide by `code` or `status`; `message` is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** The decoded body: the object of a JSON response, else its text. */
  readonly body: unknown;
  /** The stable name of the problem. Something between gateway and caller sends none, a later gateway one that is not in the type. */
  readonly code: ErrorCode | OtherCode | undefined;
  /** The values in the text of the error, by name: `{ left: '1500.00', number: 'QUO-0002' }`. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Each problem of a field, with a code of its own; empty when no field is wrong. */
  readonly problems: readonly (FieldProblem & { code: ProblemCode | OtherCode })[];
  readonly details: ErrorDetails | undefined;
  /** The name of the request in the gateway's log, worth quoting to its operator. */
  readonly requestId: string | undefined;
  /** Seconds that the gateway asks to wait before the next try. */
  readonly retryAfter: number | undefined;

  constructor(url: string, status: number, statusText: string, body: unknown, headers?: Headers) {
    const given = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    const { error, code, details, params, problems } = given;
    super(
      typeof error === 'string'
        ? `${[error, ...firstOf(details)].join('; ')} (${status})`
        : `The request failed with status ${status}`,
    );
    this.url = url;
    this.status = status;
    this.statusText = statusText;
    this.body = body;
    this.code = typeof code === 'string' ? code : undefined;
    this.params = (params ?? {}) as Readonly<Record<string, unknown>>;
    this.problems = Array.isArray(problems) ? problems : [];
    this.details = details as ErrorDetails | undefined;
    this.requestId = headers?.get('x-request-id') ?? undefined;
    this.retryAfter = secondsOf(headers?.get('retry-after'));
  }
}

/** The first messages of `details`, so that a stack trace says what is wrong. */
function firstOf(details: unknown): string[] {
  return Object.values(details ?? {})
    .flat()
    .filter((message) => typeof message === 'string')
    .slice(0, 5);
}

/** Reads `Retry-After`, which is a number of seconds or a date. Returns undefined when there is none. */
export function secondsOf(retryAfter: string | null | undefined): number | undefined {
  if (!retryAfter) return undefined;
  const seconds = Number(retryAfter);
  if (!Number.isNaN(seconds)) return seconds;
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}
