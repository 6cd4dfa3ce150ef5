// Hands markdown to the thread that knows it, and starts another thread when a text keeps it busy for too long.
import { Worker } from 'node:worker_threads';
import { AppError } from '#libs/errors.ts';

const LIMIT_MS = 2_000;
const START_LIMIT_MS = 15_000;
const HEAP_MEGABYTES = 128;

export interface Markdown {
  /** @throws AppError 422 when the text cannot be laid out within two seconds. */
  toHtml(markdown: string): Promise<string>;
  close(): Promise<void>;
}

interface Waiter {
  markdown: string;
  resolve: (html: string) => void;
  reject: (error: Error) => void;
}

/** Without an id: the thread has started. */
interface Said {
  id: number;
  html?: string;
  failure?: string;
}

export function openMarkdown(): Markdown {
  /** In the order in which the thread works on them. */
  const waiters = new Map<number, Waiter>();
  let lastId = 0;
  let worker: Worker | undefined;
  /** Of the text the thread works on. */
  let timer: NodeJS.Timeout | undefined;
  let hasStarted = false;

  // Started with the first text: most documents have none.
  function running(): Worker {
    if (worker) return worker;
    const started = new Worker(new URL('./markdown-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
      env: {},
    });
    started.on('message', ({ id, html, failure }: Said) => {
      if (failure !== undefined) settle(id, (waiter) => waiter.reject(unreadable(failure)));
      else if (html !== undefined) settle(id, (waiter) => waiter.resolve(html));
      if (worker !== started) return;
      hasStarted = true;
      watch(started);
    });
    started.on('error', (error) => replace(started, error.message));
    started.unref();
    worker = started;
    hasStarted = false;
    watch(started);
    return started;
  }

  function settle(id: number, how: (waiter: Waiter) => void) {
    const waiter = waiters.get(id);
    if (!waiter) return;
    waiters.delete(id);
    how(waiter);
  }

  /** Of the first in the row alone: neither the thread's start nor the texts before it count, on a busy machine they take long. */
  function watch(current: Worker) {
    const limitMs = hasStarted ? LIMIT_MS : START_LIMIT_MS;
    clearTimeout(timer);
    if (waiters.size > 0) timer = setTimeout(() => replace(current, `took more than ${limitMs} ms`), limitMs);
  }

  /** The first in the row is what the thread hangs on or fell over; the others have only waited behind it. */
  function replace(stuck: Worker, why: string) {
    if (worker !== stuck) return;
    worker = undefined;
    clearTimeout(timer);
    void stuck.terminate();
    const [culprit, ...innocent] = [...waiters.keys()];
    if (culprit !== undefined) settle(culprit, (waiter) => waiter.reject(unreadable(why)));
    for (const id of innocent) hand(id);
  }

  function hand(id: number) {
    const waiter = waiters.get(id);
    if (!waiter) return;
    const current = running();
    current.postMessage({ id, markdown: waiter.markdown });
    if (waiters.size === 1) watch(current);
  }

  return {
    toHtml: (markdown) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        waiters.set(lastId, { markdown, resolve, reject });
        hand(lastId);
      }),
    async close() {
      await worker?.terminate();
    },
  };
}

function unreadable(why: string | undefined) {
  return new AppError(422, 'bodyMarkdown could not be laid out', { cause: why });
}
