// Opens a service in order, closes it in reverse order, and never leaves it half open.
import closeWithGrace from 'close-with-grace';
import { errorText } from '../errors.ts';
import { ConfigError, EXIT_CONFIG } from './config-error.ts';
import type { Logger } from './logger.ts';

type Close = () => unknown;

/** The time for a service to finish its work after SIGTERM. Kubernetes' grace period must be longer. */
export const CLOSE_LIMIT_MS = 40_000;

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

  closeWithGrace({ delay: CLOSE_LIMIT_MS, logger: false }, async ({ err, signal }) => {
    if (err) log?.fatal({ err }, 'uncaught error, stopping');
    else log?.info({ signal }, 'stopping');
    await closeAll(closers, log);
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
      await closeAll(closers, log); // A browser may already run.
      process.exit(EXIT_CONFIG);
    }
    if (log) log.fatal({ err: error }, 'could not start; the process ends');
    else process.stderr.write(`Could not start: ${errorText(error)}\n`);
    await closeAll(closers, log);
    process.exit(1);
  }
}

async function closeAll(closers: Close[], log: Logger | undefined) {
  for (const close of closers.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      // One failure must not keep the other components open.
      log?.error({ err: error }, 'a component did not close; closing goes on');
    }
  }
}
