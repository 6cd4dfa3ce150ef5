// Prints documents on warm pages, and replaces pages and browsers that are worn, stuck or dead without losing a document.
import { agreedTime } from '#libs/clock.ts';
import { AppError } from '#libs/errors.ts';
import type { Logger } from '#libs/service/logger.ts';
import { within } from '#libs/with-timeout.ts';
import { asReason, GaveUp, inTime, tookTooLong } from '../in-time.ts';
import { type BrowserInstance, type GenerationOptions, startGeneration } from './browser-instance.ts';
import type { PrintOptions, WarmPage } from './warm-page.ts';

/** Four times what the dearest document below WORK_PAGES_MAX takes: what is slower has found a gap in the estimate. */
const PRINT_LIMIT_MS = 12_000;
/** A print nobody waits for any more is usually about to end: cheaper to let it than to open a new page. */
const PATIENCE_MS = 250;
const CRASHES_PER_DOCUMENT = 3;
const LAUNCHES_IN_A_ROW = 3;
const INSPECTION_MS = 5_000;
/** One that does not tell its version for so long hangs, and takes every document with it: only its end helps. */
const ANSWER_LIMIT_MS = 5_000;
const CLOSED = 'The browser is closed';

export interface RecycleLimits {
  prints: number;
  ageMs: number;
  memoryMegabytes: number;
}

export interface BrowserOptions extends GenerationOptions {
  recycle: RecycleLimits;
  /** What one document may take, 12 s unless said. */
  printLimitMs?: number;
  log: Logger;
  /** Told why whenever a browser is replaced. */
  onReplaced: (reason: ReplaceReason) => void;
  /** Called when Chromium cannot be started any more: a service without a browser had better end and be started anew. */
  onBroken: (error: unknown) => void;
}

export type ReplaceReason = 'gone' | 'prints' | 'age' | 'memory';

export interface PrintingBrowser {
  /**
   * @param html a whole document that needs nothing from outside.
   * @param options.deadlineAt milliseconds since the epoch. @param options.signal aborted when nobody waits any more.
   * @throws AppError 504 when its deadline passes, 422 when it takes more time or memory than a document may, or crashed Chromium each time; `signal.reason` when aborted;
   * Error when this browser is closed, and another may print it.
   */
  print(html: string, options: PrintOptions & { deadlineAt: number; signal: AbortSignal }): Promise<Buffer>;
  /** Rejects while there is no browser that could print. */
  check(): Promise<void>;
  /** The browser's first process. */
  pid(): Promise<number>;
  memoryMegabytes(): Promise<number>;
  close(): Promise<void>;
}

export async function openBrowser(options: BrowserOptions): Promise<PrintingBrowser> {
  const { log, recycle, printLimitMs = PRINT_LIMIT_MS } = options;
  const living = new Set<BrowserInstance>();
  let isClosed = false;
  let isRecycling = false;
  let isInspecting = false;
  let current = start();
  /** Started to replace a worn one. When that one dies meanwhile this is the next: were another started, one would be left over for ever. */
  let successor: Promise<BrowserInstance> | undefined;
  await current;
  const inspection = setInterval(() => void inspect(), INSPECTION_MS).unref();

  return {
    async print(html, { deadlineAt, signal, ...printOptions }) {
      const limit = () => ({ limitMs: deadlineAt - agreedTime(), signal });
      for (let crashes = 0; crashes < CRASHES_PER_DOCUMENT; ) {
        // Nothing below waits when no further browser will come, and who never waits hears of no limit.
        signal.throwIfAborted();
        if (agreedTime() >= deadlineAt) throw tookTooLong();
        // No AppError: while its queue lives, another renderer prints the document.
        if (isClosed) throw new Error(CLOSED);
        const generation = await inTime(current, limit()).catch(asReason);
        const page = await takePage(generation, limit());
        if (!page) continue;
        if (signal.aborted) {
          void generation.release(page);
          throw signal.reason;
        }
        // That is no doing of this document, and does not count against it.
        if (page.isDead()) {
          void generation.replace(page);
          continue;
        }
        const printing = page.print(html, printOptions);
        const stopWatching = generation.pageMemory.watch();
        try {
          const pdf = await inTime(printing, { limitMs: Math.min(printLimitMs, deadlineAt - agreedTime()), signal });
          void generation.release(page);
          if (generation.prints() >= recycle.prints) void replaceWorn(generation, 'prints');
          return pdf;
        } catch (error) {
          if (error instanceof GaveUp) {
            const isOurs = signal.aborted || agreedTime() >= deadlineAt;
            const isHung = !isOurs && (await hangs(generation));
            // Ended meanwhile, because of another document: as good as a crash.
            if (isOurs || (!isHung && generation.isAlive())) {
              void letGo(generation, page, printing);
              // It would take as long the next time.
              throw isOurs ? error.reason : new AppError(422, 'The document takes too long to print');
            }
            await end(generation);
          }
          if (generation.pageMemory.hasJustEnded()) {
            void generation.replace(page);
            throw new AppError(422, 'The document needs too much memory to print');
          }
          crashes += 1;
          log.warn({ err: error, crashes }, 'chromium failed in the middle of a document');
          void generation.replace(page);
        } finally {
          stopWatching();
        }
      }
      throw new AppError(422, 'The document could not be printed');
    },
    async check() {
      const generation = await current;
      if (!generation.isAlive()) throw new Error('chromium is being restarted');
      await generation.check();
    },
    pid: async () => (await current).pid,
    memoryMegabytes: async () => await (await current).memoryMegabytes(),
    async close() {
      isClosed = true;
      clearInterval(inspection);
      await Promise.allSettled([current, successor]); // A start that failed has nothing left to close.
      await Promise.all([...living].map((generation) => generation.retire()));
    },
  };

  async function start(): Promise<BrowserInstance> {
    let failure: unknown = new Error(CLOSED);
    for (let launch = 1; launch <= LAUNCHES_IN_A_ROW && !isClosed; launch += 1) {
      try {
        const generation = await startGeneration(options);
        living.add(generation);
        void generation.gone.then(() => {
          living.delete(generation);
          void replaceDead(generation);
        });
        return generation;
      } catch (error) {
        failure = error;
        log.warn({ err: error, launch }, 'chromium did not start');
      }
    }
    throw failure;
  }

  /** @returns undefined when the generation has no future; by then `current` is the next one. */
  async function takePage(generation: BrowserInstance, limit: { limitMs: number; signal: AbortSignal }) {
    const taking = generation.take();
    try {
      return await inTime(taking, limit);
    } catch (error) {
      if (error instanceof GaveUp) {
        void taking.then((page) => generation.release(page)).catch(() => undefined); // It died meanwhile: no page to give back.
        throw error.reason;
      }
      await replaceDead(generation);
      return undefined;
    }
  }

  async function letGo(generation: BrowserInstance, page: WarmPage, printing: Promise<Buffer>) {
    const isWell = printing.then(
      () => true,
      () => false,
    );
    const hasEnded = await within(PATIENCE_MS, isWell);
    await (hasEnded ? generation.release(page) : generation.replace(page));
  }

  async function replaceDead(dead: BrowserInstance) {
    // Who waits for `current` waits for the new one from here on; a generation that was retired is not current any more.
    const known = current;
    if (isClosed || dead.isAlive() || (await known.catch(() => dead)) !== dead || current !== known) return;
    log.warn('chromium is gone, starting another');
    options.onReplaced('gone');
    current = successor ?? start();
    await current.catch((error) => options.onBroken(error));
  }

  async function replaceWorn(worn: BrowserInstance, reason: ReplaceReason) {
    const known = current;
    const isCurrent = (await known) === worn && current === known;
    if (isClosed || isRecycling || !isCurrent) return;
    isRecycling = true;
    try {
      successor = start();
      const fresh = await successor;
      successor = undefined;
      // The worn one died meanwhile, and this one has its place already.
      if (current !== known) return;
      current = Promise.resolve(fresh);
      options.onReplaced(reason);
      log.info({ reason, prints: worn.prints() }, 'chromium replaced');
      await worn.retire();
    } catch (error) {
      // The old one still prints; the next inspection tries again.
      log.warn({ err: error }, 'a worn chromium could not be replaced');
    } finally {
      successor = undefined;
      isRecycling = false;
    }
  }

  async function inspect() {
    const generation = await current.catch(() => undefined);
    if (!generation?.isAlive() || isInspecting) return;
    isInspecting = true;
    try {
      // Asked twice: on a busy machine an answer may be late.
      if ((await hangs(generation)) && (await hangs(generation))) await end(generation);
      else await replaceIfWorn(generation);
    } finally {
      isInspecting = false;
    }
  }

  async function end(hung: BrowserInstance) {
    log.warn('chromium hangs, ending it');
    await hung.end();
  }

  async function replaceIfWorn(generation: BrowserInstance) {
    if (generation.ageMs() >= recycle.ageMs) await replaceWorn(generation, 'age');
    else if ((await generation.memoryMegabytes()) >= recycle.memoryMegabytes) await replaceWorn(generation, 'memory');
  }
}

async function hangs(generation: BrowserInstance): Promise<boolean> {
  const hasAnswered = generation.check().then(
    () => true,
    () => true, // That it has gone is an answer, too.
  );
  return !(await within(ANSWER_LIMIT_MS, hasAnswered));
}
