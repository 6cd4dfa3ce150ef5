// Converts Markdown in a worker thread, and starts another thread when a text keeps it busy for too long.
import { Worker } from 'node:worker_threads';
import { type AppError, appError, retryAfter } from '../errors.ts';
import { deadlinePassed } from '../jobs/replies.ts';
import { withDeadline } from '../with-timeout.ts';

/** The limit of processor time, which other work on the machine does not use up. */
const LIMIT_MS = 2_000;
/** The limit of time for the thread to start, or to get its processor time. */
const PATIENCE_MS = 15_000;
const CHECK_AGAIN_MS = 100;
const HEAP_MEGABYTES = 128;

export interface Markdown {
  /**
   * Converts Markdown.
   * @param limits.deadlineAt milliseconds since the epoch.
   * @param limits.signal aborted when the document is cancelled.
   * @throws AppError 422 after two seconds of processor time, 503 when the machine is too busy, 504 when the deadline
   * passes, and `signal.reason` when aborted.
   */
  toHtml(markdown: string, limits: { deadlineAt: number; signal: AbortSignal }): Promise<string>;
  close(): Promise<void>;
}

interface Waiter {
  markdown: string;
  resolve: (html: string) => void;
  reject: (error: Error) => void;
}

interface FromWorker {
  /** The id of the text. Absent in the message that the thread has started. */
  id?: number;
  /** The processor time of the thread so far. */
  spentMs: number;
  html?: string;
  failure?: string;
}

/** Opens the converter. @param options.patienceMs limit of time instead of 15 s. */
export function openMarkdown({ patienceMs = PATIENCE_MS }: { patienceMs?: number } = {}): Markdown {
  /** The waiting texts, in the order in which the thread gets them. */
  const waiters = new Map<number, Waiter>();
  let lastId = 0;
  /** The text that the thread works on. */
  let current: number | undefined;
  let worker: Worker | undefined;
  /** The timeout of that text. */
  let timer: NodeJS.Timeout | undefined;
  let hasStarted = false;
  /** The processor time of the thread before that text. */
  let spentMs = 0;
  /** A number that increases with every text that is watched. */
  let watchCount = 0;

  // The thread starts with the first text, because most documents have none.
  function running(): Worker {
    if (worker) return worker;
    const started = new Worker(new URL('./markdown-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
      env: {},
    });
    started.on('message', (message: FromWorker) => {
      if (worker !== started) return;
      hasStarted = true;
      spentMs = message.spentMs;
      if (message.id !== undefined) settle(message);
      watch(started);
    });
    started.on('error', (error) => replace(started, unreadable(error.message)));
    started.unref();
    worker = started;
    hasStarted = false;
    return started;
  }

  /**
   * Sends the next text. The thread has one at a time, so that texts which are given up while they wait cost it
   * nothing.
   */
  function sendNext() {
    if (current !== undefined) return;
    [current] = waiters.keys();
    const waiter = current === undefined ? undefined : waiters.get(current);
    if (!waiter) return;
    const thread = running();
    thread.postMessage({ id: current, markdown: waiter.markdown });
    watch(thread);
  }

  function settle({ html, failure }: Pick<FromWorker, 'html' | 'failure'>, error = unreadable(failure)) {
    const waiter = current === undefined ? undefined : waiters.get(current);
    if (current !== undefined) waiters.delete(current);
    current = undefined;
    if (html === undefined) waiter?.reject(error);
    else waiter?.resolve(html);
    sendNext();
  }

  /** Limits the time of the current text. The thread's start and the texts before it do not count. */
  function watch(thread: Worker) {
    clearTimeout(timer);
    watchCount += 1;
    const text = { count: watchCount, since: performance.now() };
    if (current !== undefined) checkIn(hasStarted ? LIMIT_MS : patienceMs, thread, text);
  }

  function checkIn(waitMs: number, thread: Worker, text: { count: number; since: number }) {
    const check = async () => {
      const usedMs = hasStarted ? (await processorMs(thread)) - spentMs : 0;
      if (worker !== thread || watchCount !== text.count) return;
      if (usedMs >= LIMIT_MS) replace(thread, unreadable(`took more than ${LIMIT_MS} ms`));
      else if (performance.now() - text.since >= patienceMs) replace(thread, tooBusy());
      else checkIn(Math.max(LIMIT_MS - usedMs, CHECK_AGAIN_MS), thread, text);
    };
    timer = setTimeout(() => void check(), waitMs);
  }

  /** Replaces the thread, because the current text made it hang or crash. The other texts only waited behind it. */
  function replace(stuck: Worker, error: AppError) {
    if (worker !== stuck) return;
    worker = undefined;
    clearTimeout(timer);
    void stuck.terminate();
    settle({}, error);
  }

  return {
    async toHtml(markdown, { deadlineAt, signal }) {
      lastId += 1;
      const id = lastId;
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      waiters.set(id, { markdown, resolve, reject });
      sendNext();
      try {
        return await withDeadline(deadlineAt, promise, { signal, error: deadlinePassed });
      } finally {
        // The text that the thread works on stays, because its processor time is watched until it ends.
        if (id !== current) waiters.delete(id);
      }
    },
    async close() {
      await worker?.terminate();
    },
  };
}

async function processorMs(thread: Worker): Promise<number> {
  const { user, system } = await thread.cpuUsage().catch(() => ({ user: 0, system: 0 })); // The thread has just ended.
  return (user + system) / 1_000;
}

function tooBusy() {
  return appError('markdown_late', undefined, { headers: retryAfter(1) });
}

function unreadable(why: string | undefined) {
  return appError('markdown_not_printable', undefined, { cause: why });
}
