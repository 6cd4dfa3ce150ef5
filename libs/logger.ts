// Structured logs, one JSON line each, without bodies and keys.
import { type Logger, type LoggerOptions, pino } from 'pino';

export type { Logger };

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
  };
  return pino(options);
}
