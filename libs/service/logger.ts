// Structured logs, one JSON line each, without bodies and keys.
import { type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import sonicBoom, { type SonicBoom } from 'sonic-boom';

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
 * Whoever reads the lines may stand still or be gone. As many characters as this wait for it, later lines are lost; and what cannot be
 * written is tried no more than so often, a tenth of a second apart, before the process that ends lets go of it.
 */
const WAITING = { maxLength: 8_388_608, maxWriteRetries: 10 };

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
  standardOutput ??= openStandardOutput();
  return pino(options, standardOutput);
}

/** All loggers of a process share it. */
let standardOutput: SonicBoom | undefined;

function openStandardOutput(): SonicBoom {
  // To ask for its number makes Node write to a pipe without waiting for its reader.
  const output = new sonicBoom.SonicBoom({ fd: process.stdout.fd, ...TOGETHER, ...WAITING });
  output.on('error', () => undefined); // The lines are kept for the next try: there is nobody to tell.
  process.once('exit', () => {
    try {
      output.flushSync();
    } catch {
      // Nobody reads them any more.
    }
  });
  return output;
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
