// Hands markdown to the thread that knows it, and starts another thread when a text keeps it busy for too long.
import { Worker } from 'node:worker_threads';
import { AppError } from '#libs/errors.ts';

const LIMIT_MS = 2_000;
const HEAP_MEGABYTES = 128;

export interface Markdown {
  /** @throws AppError 422 when the text cannot be laid out within two seconds. */
  toHtml(markdown: string): Promise<string>;
  close(): Promise<void>;
}

interface Waiter {
  resolve(html: string): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

export function openMarkdown(): Markdown {
  const waiters = new Map<number, Waiter>();
  let lastId = 0;
  let worker: Worker | undefined;

  // Started with the first text: most documents have none.
  function running(): Worker {
    if (worker) return worker;
    const started = new Worker(new URL('./markdown-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
      env: {},
    });
    started.on('message', ({ id, html, failure }: { id: number; html?: string; failure?: string }) => {
      if (html === undefined) settle(id, (waiter) => waiter.reject(unreadable(failure)));
      else settle(id, (waiter) => waiter.resolve(html));
    });
    started.on('error', (error) => giveUp(started, error.message));
    started.unref();
    worker = started;
    return started;
  }

  function settle(id: number, how: (waiter: Waiter) => void) {
    const waiter = waiters.get(id);
    if (!waiter) return;
    waiters.delete(id);
    clearTimeout(waiter.timer);
    how(waiter);
  }

  function giveUp(stuck: Worker, why: string) {
    if (worker !== stuck) return;
    worker = undefined;
    for (const id of [...waiters.keys()]) settle(id, (waiter) => waiter.reject(unreadable(why)));
    void stuck.terminate();
  }

  return {
    toHtml: (markdown) =>
      new Promise((resolve, reject) => {
        const current = running();
        lastId += 1;
        const timer = setTimeout(() => giveUp(current, `took more than ${LIMIT_MS} ms`), LIMIT_MS);
        waiters.set(lastId, { resolve, reject, timer });
        current.postMessage({ id: lastId, markdown });
      }),
    async close() {
      await worker?.terminate();
    },
  };
}

function unreadable(why: string | undefined) {
  return new AppError(422, 'bodyMarkdown could not be laid out', { cause: why });
}
