// Opens a service in order, closes it in reverse order, and never leaves it half open.
import closeWithGrace from 'close-with-grace';
import { errorText } from '../errors.ts';
import { ConfigError, EXIT_CONFIG } from './config-error.ts';
import type { Logger } from './logger.ts';

/** The end of a service: `isOrderly` unless an error ends it. */
interface End {
  isOrderly: boolean;
}

type Close = (end: End) => unknown;

/** The time for a service to finish its work after SIGTERM. Kubernetes' grace period must be longer. */
export const CLOSE_LIMIT_MS = 40_000;

/**
 * Signals of a crash in native code. A handler in JavaScript never runs then: the crash repeats, and the process spins for
 * ever and ignores SIGTERM.
 */
const CRASHES = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'] as const;

/** Signals with which people and supervisors end a process. */
const ENDS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

export interface Lifecycle {
  /** Registers the undo of the last step. Closing runs the newest first. */
  onClose(close: Close): void;
  /** Sets the logger for start-up and shutdown failures. */
  useLogger(log: Logger): void;
}

/**
 * Runs `open` and keeps the process alive until SIGTERM, SIGINT or an uncaught error.
 * Exits with 78 and the list of problems on a ConfigError, with 1 and one line on any other start-up failure.
 */
export async function run(open: (lifecycle: Lifecycle) => Promise<void>): Promise<void> {
  const closers: Close[] = [];
  let log: Logger | undefined;

  // Node.js can hang as it exits (nodejs/node#54918). Handlers do not run any more then, so signals have to end the process.
  process.once('exit', () => {
    for (const signal of ENDS) process.removeAllListeners(signal);
  });
  closeWithGrace({ delay: CLOSE_LIMIT_MS, logger: false, skip: [...CRASHES] }, async ({ err, signal }) => {
    if (err) log?.fatal({ err }, 'uncaught error, stopping');
    else log?.info({ signal }, 'stopping');
    await closeAll(closers, { isOrderly: !err }, log);
    log?.info('stopped');
  });

  try {
    await open({
      onClose: (close) => closers.push(close),
      useLogger(logger) {
        log = logger;
      },
    });
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      await closeAll(closers, { isOrderly: false }, log); // A browser may already run.
      process.exit(EXIT_CONFIG);
    }
    if (log) log.fatal({ err: error }, 'could not start; the process ends');
    else process.stderr.write(`Could not start: ${errorText(error)}\n`);
    await closeAll(closers, { isOrderly: false }, log);
    process.exit(1);
  }
}

async function closeAll(closers: Close[], end: End, log: Logger | undefined) {
  for (const close of closers.splice(0).reverse()) {
    try {
      await close(end);
    } catch (error) {
      // One failure must not keep the other components open.
      log?.error({ err: error }, 'a component did not close; closing goes on');
    }
  }
}
