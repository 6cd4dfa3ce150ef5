// Prints documents on warm pages. A page or browser that is stuck, too large or dead is replaced, and no document is lost with it.
import { agreedTime } from '#libs/clock.ts';
import { appError } from '#libs/errors.ts';
import { deadlinePassed } from '#libs/jobs/replies.ts';
import { resultWithin, TimeoutError, type WaitOptions, withDeadline, withTimeout } from '#libs/with-timeout.ts';
import type { BrowserInstance } from './browser-instance.ts';
import { CLOSED, type InstanceKeeperOptions, isHung, keepInstance } from './instance-keeper.ts';
import type { PrintOptions, WarmPage } from './warm-page.ts';

/**
 * Four times the time of the most expensive document below WORK_PAGES_MAX. A slower one has found a gap in the
 * estimate.
 */
const PRINT_LIMIT_MS = 12_000;
/** An abandoned print usually ends soon, and waiting for it is cheaper than opening a new page. */
const PATIENCE_MS = 250;
const CRASHES_PER_DOCUMENT = 3;

export interface BrowserOptions extends InstanceKeeperOptions {
  /** The timeout of one document. 12 s unless given. */
  printLimitMs?: number;
}

export interface PrintingBrowser {
  /**
   * Prints a document.
   * @param html a whole document that loads nothing.
   * @param options.deadlineAt milliseconds since the epoch.
   * @param options.signal aborted when the document is cancelled.
   * @throws
   * - AppError 504 when the deadline passes.
   * - AppError 422 when the document takes more time or memory than it may, or crashes Chromium each time.
   * - `signal.reason` when aborted.
   * - Error when this browser is closed, so that another renderer may print the document.
   */
  print(html: string, options: PrintOptions & { deadlineAt: number; signal: AbortSignal }): Promise<Buffer>;
  /** Rejects while no browser can print. */
  check(): Promise<void>;
  /** Returns the id of the browser's first process. */
  pid(): Promise<number>;
  memoryMegabytes(): Promise<number>;
  close(): Promise<void>;
}

export async function openBrowser(options: BrowserOptions): Promise<PrintingBrowser> {
  const { log, recycle, printLimitMs = PRINT_LIMIT_MS } = options;
  const keeper = await keepInstance(options);

  return {
    async print(html, { deadlineAt, signal, ...printOptions }) {
      const wait: WaitOptions = { signal, error: deadlinePassed };
      for (let crashes = 0; crashes < CRASHES_PER_DOCUMENT; ) {
        // The check is here, because nothing below waits once the last browser has ended.
        signal.throwIfAborted();
        if (agreedTime() >= deadlineAt) throw deadlinePassed();
        // This is no AppError, so that the job stays in the queue for another renderer.
        if (keeper.isClosed()) throw new Error(CLOSED);
        const instance = await withDeadline(deadlineAt, keeper.current(), wait);
        const page = await takePage(instance, deadlineAt, signal);
        if (!page) continue;
        if (signal.aborted) {
          void instance.release(page);
          throw signal.reason;
        }
        // The page died before this document, which therefore did not cause it.
        if (page.isDead()) {
          void instance.replace(page);
          continue;
        }
        const printing = page.print(html, printOptions);
        const watch = instance.pageMemory.watch();
        try {
          const pdf = await withTimeout(Math.min(printLimitMs, deadlineAt - agreedTime()), printing, { signal });
          void instance.release(page);
          if (instance.prints() >= recycle.prints) void keeper.replaceWorn(instance, 'prints');
          return pdf;
        } catch (error) {
          if (error instanceof TimeoutError || signal.aborted) {
            const isUnwanted = signal.aborted || agreedTime() >= deadlineAt;
            const hasHung = !isUnwanted && (await isHung(instance));
            // A browser that ended meanwhile counts as a crash, because another document may have ended it.
            if (isUnwanted || (!hasHung && instance.isAlive())) {
              void abandon(instance, page, printing);
              if (signal.aborted) throw signal.reason;
              // Another attempt would take as long.
              throw isUnwanted ? deadlinePassed() : appError('document_too_slow');
            }
            await keeper.endHung(instance);
          }
          if (watch.explainsCrash()) {
            void instance.replace(page);
            throw appError('document_needs_memory');
          }
          crashes += 1;
          log.warn({ err: error, crashes }, 'chromium failed while it printed a document; another page prints it');
          void instance.replace(page);
        } finally {
          watch.stop();
        }
      }
      throw appError('document_not_printed');
    },
    async check() {
      const instance = await keeper.current();
      if (!instance.isAlive()) throw new Error('chromium is being restarted');
      await instance.check();
    },
    pid: async () => (await keeper.current()).pid,
    memoryMegabytes: async () => await (await keeper.current()).memoryMegabytes(),
    close: () => keeper.close(),
  };

  /**
   * Takes a page.
   * @returns undefined when the instance takes no more prints. By then `keeper.current` is the next one.
   */
  async function takePage(instance: BrowserInstance, deadlineAt: number, signal: AbortSignal) {
    const taking = instance.take();
    try {
      return await withDeadline(deadlineAt, taking, { signal });
    } catch (error) {
      const isLate = error instanceof TimeoutError;
      if (isLate || signal.aborted) {
        // The instance may die meanwhile, and then there is no page to give back.
        void taking.then((page) => instance.release(page)).catch(() => undefined);
        throw isLate ? deadlinePassed() : signal.reason;
      }
      await keeper.replaceDead(instance);
      return undefined;
    }
  }
}

async function abandon(instance: BrowserInstance, page: WarmPage, printing: Promise<Buffer>) {
  const isWell = printing.then(
    () => true,
    () => false,
  );
  const hasEnded = await resultWithin(PATIENCE_MS, isWell);
  await (hasEnded ? instance.release(page) : instance.replace(page));
}
