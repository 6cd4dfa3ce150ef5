// Structured logs, one JSON line each, without bodies and keys.
import { type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import sonicBoom, { type SonicBoom } from 'sonic-boom';

export type { Logger };

/**
 * The fields of an error that are logged besides type, message and stack. Drivers attach more, such as a Redis command
 * with a whole PDF or the documents of a failed write.
 */
const ERROR_FIELDS = ['code', 'codeName', 'status', 'syscall', 'hostname', 'address', 'port', 'path'] as const;

/**
 * Lines are written in batches: one write per line took a fifteenth of a gateway's processor time. A fatal line and the
 * end of the process flush at once, so only SIGKILL loses the last tenth of a second. No write exceeds what a pipe
 * takes atomically, so that lines of several processes on one pipe stay whole.
 */
const BATCHING = { minLength: 3_072, maxWrite: 4_096, periodicFlush: 100, sync: false };

/**
 * The reader of the log may be stuck or gone. This many characters wait for it, and later lines are dropped. At the end
 * of the process a failing write is retried this often, a tenth of a second apart.
 */
const BACKLOG = { maxLength: 8_388_608, maxWriteRetries: 10 };

/**
 * Makes a logger.
 * @param service the name in every line.
 * @param level the minimum level. `silent` opens no output, whose timer would run as long as the process.
 */
export function makeLogger(service: string, level: string): Logger {
  const options: LoggerOptions = {
    level,
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['req.headers.authorization', 'req.headers.cookie', 'headers.authorization', 'headers.cookie'],
    serializers: { err: describeError },
  };
  if (level === 'silent') return pino(options, { write: () => undefined });
  standardOutput ??= openStandardOutput();
  return pino(options, standardOutput);
}

/** The output that all loggers of a process share. */
let standardOutput: SonicBoom | undefined;

function openStandardOutput(): SonicBoom {
  // Reading `fd` makes Node switch a pipe to non-blocking writes.
  const output = new sonicBoom.SonicBoom({ fd: process.stdout.fd, ...BATCHING, ...BACKLOG });
  output.on('error', () => undefined); // The lines are kept for the next try, and there is no other place to report to.
  process.once('exit', () => {
    try {
      output.flushSync();
    } catch {
      // The reader is gone.
    }
  });
  return output;
}

/** Describes an error for loggers with `serializers` of their own. It returns any other value unchanged. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack, command, ...rest } = stdSerializers.err(error);
  return {
    type,
    message,
    stack,
    ...(command ? { command: command.name } : {}),
    ...Object.fromEntries(ERROR_FIELDS.map((name) => [name, rest[name]])),
    ...(error instanceof AggregateError ? { aggregateErrors: error.errors.map(describeError) } : {}),
  };
}
