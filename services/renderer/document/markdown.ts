// Converts Markdown in a worker thread, and starts another thread when a text keeps it busy for too long.
import { Worker } from 'node:worker_threads';
import { AppError, unavailable } from '#libs/errors.ts';
import { LeakFreeMap } from '#libs/leak-free.ts';

/** Limit of processor time, which other work on the machine does not use up. */
const LIMIT_MS = 2_000;
/** Limit of time for the thread to start, or to get its processor time. */
const PATIENCE_MS = 15_000;
const CHECK_AGAIN_MS = 100;
const HEAP_MEGABYTES = 128;

export interface Markdown {
  /** @throws AppError 422 when the conversion takes two seconds of processor time, 503 when the machine is too busy. */
  toHtml(markdown: string): Promise<string>;
  close(): Promise<void>;
}

interface Waiter {
  markdown: string;
  resolve: (html: string) => void;
  reject: (error: Error) => void;
}

/** Without an id: the thread has started. */
interface FromWorker {
  id: number;
  /** Processor time of the thread so far. */
  spentMs: number;
  html?: string;
  failure?: string;
}

/** @param options.patienceMs limit of time instead of 15 s. */
export function openMarkdown({ patienceMs = PATIENCE_MS }: { patienceMs?: number } = {}): Markdown {
  /** In the order in which the thread works on them. */
  const waiters = new LeakFreeMap<number, Waiter>();
  let lastId = 0;
  let worker: Worker | undefined;
  /** Timeout of the text that the thread works on. */
  let timer: NodeJS.Timeout | undefined;
  let hasStarted = false;
  /** Processor time of the thread before that text. */
  let spentMs = 0;
  /** Increases with every text that is watched. */
  let watchCount = 0;

  // Started with the first text, because most documents have none.
  function running(): Worker {
    if (worker) return worker;
    const started = new Worker(new URL('./markdown-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
      env: {},
    });
    started.on('message', ({ id, html, failure, ...message }: FromWorker) => {
      if (failure !== undefined) settle(id, (waiter) => waiter.reject(unreadable(failure)));
      else if (html !== undefined) settle(id, (waiter) => waiter.resolve(html));
      if (worker !== started) return;
      hasStarted = true;
      spentMs = message.spentMs;
      watch(started);
    });
    started.on('error', (error) => replace(started, unreadable(error.message)));
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

  /** Watches only the first text of the queue: neither the thread's start nor the texts before it count. */
  function watch(current: Worker) {
    clearTimeout(timer);
    watchCount += 1;
    const text = { count: watchCount, since: performance.now() };
    if (waiters.size > 0) checkIn(hasStarted ? LIMIT_MS : patienceMs, current, text);
  }

  function checkIn(waitMs: number, current: Worker, text: { count: number; since: number }) {
    const check = async () => {
      const usedMs = hasStarted ? (await processorMs(current)) - spentMs : 0;
      if (worker !== current || watchCount !== text.count) return;
      if (usedMs >= LIMIT_MS) replace(current, unreadable(`took more than ${LIMIT_MS} ms`));
      else if (performance.now() - text.since >= patienceMs) replace(current, tooBusy());
      else checkIn(Math.max(LIMIT_MS - usedMs, CHECK_AGAIN_MS), current, text);
    };
    timer = setTimeout(() => void check(), waitMs);
  }

  /** The first text of the queue made the thread hang or crash; the others only waited behind it. */
  function replace(stuck: Worker, error: AppError) {
    if (worker !== stuck) return;
    worker = undefined;
    clearTimeout(timer);
    void stuck.terminate();
    const [culprit, ...innocent] = waiters.keys();
    if (culprit !== undefined) settle(culprit, (waiter) => waiter.reject(error));
    for (const id of innocent) send(id);
  }

  function send(id: number) {
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
        send(lastId);
      }),
    async close() {
      await worker?.terminate();
    },
  };
}

async function processorMs(thread: Worker): Promise<number> {
  const { user, system } = await thread.cpuUsage().catch(() => ({ user: 0, system: 0 })); // It has just ended.
  return (user + system) / 1_000;
}

function tooBusy() {
  return unavailable('bodyMarkdown could not be laid out in time, please try again later', 1);
}

function unreadable(why: string | undefined) {
  return new AppError(422, 'bodyMarkdown could not be laid out', { cause: why });
}
