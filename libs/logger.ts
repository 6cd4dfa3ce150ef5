// Structured logs, one JSON line each, without bodies and keys.
import { type Logger, type LoggerOptions, pino } from 'pino';

export type { Logger };

/**
 * @param service name that every line carries.
 * @param level least level that is written.
 * @param options.isBusy lines that are said while others are being written leave together, and nobody waits for them: a process that is killed
 * may lose its last ones.
 */
export function makeLogger(service: string, level: string, { isBusy = false } = {}): Logger {
  const options: LoggerOptions = {
    level,
    base: { service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['req.headers.authorization', 'req.headers.cookie', 'headers.authorization', 'headers.cookie'],
  };
  return isBusy ? pino(options, pino.destination({ sync: false })) : pino(options);
}
