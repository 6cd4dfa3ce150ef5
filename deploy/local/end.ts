// Stops the system on a signal or a failure: once, and in reverse order of opening.
import { EXIT_FAILED, reasonOf } from '../backends/failure.ts';
import { killOurs } from './orphans.ts';
import type { Terminal } from './terminal.ts';

export interface End {
  onClose(close: () => unknown): void;
  // Closes everything and ends the process. Further calls have no effect.
  now(why: string | undefined, exitCode: number): Promise<void>;
  isUnderWay(): boolean;
}

// npm forwards a Ctrl-C that the terminal has already sent to this process. Only a later one means "stop now".
const IMPATIENCE_AFTER_MS = 1_000;

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
        terminal.say(`A component did not stop cleanly: ${reasonOf(error)}`); // The others must still be stopped.
      }
    }
    if (why) terminal.say('Stopped.');
    process.exit(exitCode);
  }

  return { onClose: (close) => void closers.push(close), now, isUnderWay: () => isUnderWay };
}

// close-with-grace would not do: it treats npm's copy of a Ctrl-C as a second signal and exits without closing.
export function endOnSignals(end: End, dataFolder: string): void {
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
}
