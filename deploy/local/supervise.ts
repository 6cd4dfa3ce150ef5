// Restarts a process that ends unexpectedly, with exponential backoff.
import { setTimeout as wait } from 'node:timers/promises';
import { describeExit, type Exit } from '../backends/child.ts';
import { reasonOf } from '../backends/failure.ts';
import type { Terminal } from './terminal.ts';

export interface Running {
  pid: number;
  exited: Promise<Exit>;
  stop(): Promise<void>;
}

export interface Supervised {
  name: string;
  pid(): number | undefined; // undefined while it is down
  restart(why: string): void; // at once, and not for a failure
  stop(): Promise<void>;
}

export interface SuperviseOptions {
  name: string;
  start: () => Promise<Running>; // resolves when the part is ready
  terminal: Terminal;
  onChange: () => void; // its pid has changed
}

const FIRST_WAIT_MS = 250; // Long enough to free a port, short enough for a caller's retry.
const LONGEST_WAIT_MS = 10_000;
const STEADY_MS = 30_000; // A process that ran this long resets the backoff.

// Starts and supervises a process. Rejects when the first start fails.
export async function supervise({ name, start, terminal, onChange }: SuperviseOptions): Promise<Supervised> {
  const stopping = new AbortController();
  let waiting = new AbortController();
  let restartReason: string | undefined;
  let running: Running | undefined = await start();
  const kept = keep(running);

  async function keep(first: Running) {
    let waitMs = FIRST_WAIT_MS;
    let current = first;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const exit = await current.exited;
      running = undefined;
      if (stopping.signal.aborted) return;
      onChange();
      if (performance.now() - startedAt > STEADY_MS) waitMs = FIRST_WAIT_MS;
      const next = await startAgain(describeExit(exit));
      if (!next) return;
      running = current = next;
      terminal.note(name, 'is back');
      onChange();
      // The restart was asked for while the process started, so it may have read the old files.
      if (restartReason !== undefined) void next.stop();
    }

    async function startAgain(why: string): Promise<Running | undefined> {
      let reason = why;
      while (!stopping.signal.aborted) {
        if (restartReason === undefined) {
          terminal.note(name, `stopped by itself (${reason}), starting again in ${waitMs / 1000} s`);
          waiting = new AbortController();
          const signal = AbortSignal.any([stopping.signal, waiting.signal]);
          await wait(waitMs, undefined, { signal }).catch(() => {});
          if (stopping.signal.aborted) return undefined;
          waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
        }
        if (restartReason !== undefined) {
          terminal.note(name, `starts again: ${restartReason}`);
          restartReason = undefined;
          waitMs = FIRST_WAIT_MS;
        }
        try {
          return await start();
        } catch (error) {
          reason = reasonOf(error);
        }
      }
      return undefined;
    }
  }

  return {
    name,
    pid: () => running?.pid,
    restart(why) {
      restartReason = why;
      waiting.abort();
      void running?.stop();
    },
    stop: async () => {
      stopping.abort();
      await running?.stop();
      await kept;
      // A start that was in progress has finished after the stop.
      await running?.stop();
    },
  };
}
