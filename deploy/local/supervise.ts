// Starts a process again whenever it ends by itself.
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
  stop(): Promise<void>;
}

export interface SuperviseOptions {
  name: string;
  start: () => Promise<Running>; // resolves when the part is ready
  terminal: Terminal;
  onChange: () => void; // its pid has changed
}

const WAIT_MS = 250; // Long enough to free a port, short enough for a caller's retry.

// Starts and supervises a process. Rejects when the first start fails.
export async function supervise({ name, start, terminal, onChange }: SuperviseOptions): Promise<Supervised> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Running | undefined = await start();
  void keep(running);

  async function keep(first: Running) {
    let reason = describeExit(await first.exited);
    running = undefined;
    while (!signal.aborted) {
      onChange();
      terminal.note(name, `stopped by itself (${reason}), starting again`);
      await wait(WAIT_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      try {
        const next = await start();
        if (signal.aborted) return void next.stop();
        running = next;
      } catch (error) {
        reason = reasonOf(error);
        continue;
      }
      terminal.note(name, 'is back');
      onChange();
      reason = describeExit(await running.exited);
      running = undefined;
    }
  }

  return {
    name,
    pid: () => running?.pid,
    stop: async () => {
      stopping.abort();
      await running?.stop();
    },
  };
}
