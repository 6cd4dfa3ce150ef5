// The orderly end: once, in reverse order of opening, on a signal or a failure.
import { EXIT_FAILED, reasonOf } from '../backends/failure.ts';
import { killOurs } from './orphans.ts';
import type { Terminal } from './terminal.ts';

export interface End {
  onClose(close: () => unknown): void;
  // Closes everything and ends the process. A second call waits for nothing and changes nothing.
  now(why: string | undefined, exitCode: number): Promise<void>;
  isUnderWay(): boolean;
}

// npm hands a Ctrl-C on although the terminal has sent it to us as well: only a later one is impatience.
const IMPATIENCE_AFTER_MS = 1_000;
const PARENT_CHECK_MS = 1_000;

export function endOnce(terminal: Terminal): End {
  const closers: (() => unknown)[] = [];
  let isUnderWay = false;

  async function now(why: string | undefined, exitCode: number) {
    if (isUnderWay) return;
    isUnderWay = true;
    if (why) terminal.say(`\nStopping: ${why} …`);
    for (const close of closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        terminal.say(`A part did not stop cleanly: ${reasonOf(error)}`); // The next one must still be stopped.
      }
    }
    if (why) terminal.say('Stopped.');
    process.exit(exitCode);
  }

  return { onClose: (close) => void closers.push(close), now, isUnderWay: () => isUnderWay };
}

// Not the library the services use: it takes npm's second copy of a Ctrl-C for impatience and ends without closing.
export function endOnSignals(end: End, dataFolder: string, env: NodeJS.ProcessEnv): void {
  let askedAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      askedAt ??= performance.now();
      if (performance.now() - askedAt > IMPATIENCE_AFTER_MS) {
        void killOurs(dataFolder).finally(() => process.exit(EXIT_FAILED));
      }
      void end.now(signal, 0);
    });
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error) => void end.now(`an error of ours (${reasonOf(error)})`, EXIT_FAILED));
  }
  // npm killed without a chance to tell us: whoever looks for us afterwards would look for npm.
  if (!env['npm_lifecycle_event']) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void end.now('npm is gone', EXIT_FAILED);
  }, PARENT_CHECK_MS).unref();
}
