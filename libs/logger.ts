// Structured logs, one JSON line each, without bodies and keys.
import { type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';

export type { Logger };

/**
 * What a line says of an error, besides its type, text and stack. Drivers hang on it whatever they were asked to do: a command of Redis
 * with a whole PDF, the documents of a failed write.
 */
const TOLD = ['code', 'codeName', 'status', 'syscall', 'hostname', 'address', 'port', 'path'] as const;

/**
 * Lines leave some at a time: a write for each was a fifteenth of what a gateway does. A fatal line and the end of the process wait for
 * nothing; only who is killed in an instant takes the last tenth of a second along. No write is longer than what a pipe takes in one
 * piece, so that lines of several processes on one pipe stay whole.
 */
const TOGETHER = { minLength: 3_072, maxWrite: 4_096, periodicFlush: 100, sync: false };

/**
 * @param service name that every line carries.
 * @param level least level that is written.
 */
export function makeLogger(service: string, level: string): Logger {
  const options: LoggerOptions = {
    level,
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['req.headers.authorization', 'req.headers.cookie', 'headers.authorization', 'headers.cookie'],
    serializers: { err: describeError },
  };
  return pino(options, pino.destination(TOGETHER));
}

/** For `serializers` of a logger that has its own. Anything but an error is left as it is. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack, command, ...rest } = stdSerializers.err(error);
  return {
    type,
    message,
    stack,
    ...(command ? { command: command.name } : {}),
    ...Object.fromEntries(TOLD.map((name) => [name, rest[name]])),
    ...(error instanceof AggregateError ? { aggregateErrors: error.errors.map(describeError) } : {}),
  };
}
