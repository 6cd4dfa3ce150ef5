// Keeps one browser instance ready to print: starts it, inspects it, and replaces it when it has ended, is worn or
// hangs.
import type { Logger } from '#libs/service/logger.ts';
import { resultWithin } from '#libs/with-timeout.ts';
import { type BrowserInstance, type InstanceOptions, startInstance } from './browser-instance.ts';

const LAUNCHES_IN_A_ROW = 3;
const INSPECTION_MS = 5_000;
/**
 * The time without a response after which a browser counts as hung, with every document in it. Only a new one helps.
 */
const ANSWER_LIMIT_MS = 5_000;
export const CLOSED = 'The browser is closed';

export interface RecycleLimits {
  prints: number;
  ageMs: number;
  memoryMegabytes: number;
}

export type ReplaceReason = 'gone' | 'prints' | 'age' | 'memory';

export interface InstanceKeeperOptions extends InstanceOptions {
  recycle: RecycleLimits;
  log: Logger;
  /** Called whenever an instance is replaced. */
  onReplaced: (reason: ReplaceReason) => void;
  /** Called when Chromium cannot be started any more. The service should exit and be started again. */
  onBroken: (error: unknown) => void;
}

export interface InstanceKeeper {
  /** Returns the instance that prints now, or the one that is being started. */
  current(): Promise<BrowserInstance>;
  replaceDead(dead: BrowserInstance): Promise<void>;
  replaceWorn(worn: BrowserInstance, reason: ReplaceReason): Promise<void>;
  /** Ends an instance that does not respond. Its end starts the next one. */
  endHung(hung: BrowserInstance): Promise<void>;
  isClosed(): boolean;
  close(): Promise<void>;
}

export async function keepInstance(options: InstanceKeeperOptions): Promise<InstanceKeeper> {
  const { log, recycle } = options;
  const living = new Set<BrowserInstance>();
  let isClosed = false;
  let isRecycling = false;
  let isInspecting = false;
  let current = start();
  /**
   * The instance that replaces a worn one. It becomes the current one even when the worn one dies first: a third one
   * would never be closed.
   */
  let successor: Promise<BrowserInstance> | undefined;
  await current;
  const inspection = setInterval(() => void inspect(), INSPECTION_MS).unref();

  return {
    current: () => current,
    replaceDead,
    replaceWorn,
    endHung,
    isClosed: () => isClosed,
    async close() {
      isClosed = true;
      clearInterval(inspection);
      await Promise.allSettled([current, successor]); // A failed start leaves nothing to close.
      await Promise.all([...living].map((instance) => instance.retire()));
    },
  };

  async function start(): Promise<BrowserInstance> {
    let failure: unknown = new Error(CLOSED);
    for (let launch = 1; launch <= LAUNCHES_IN_A_ROW && !isClosed; launch += 1) {
      try {
        const instance = await startInstance(options);
        living.add(instance);
        void instance.gone.then(() => {
          living.delete(instance);
          void replaceDead(instance);
        });
        return instance;
      } catch (error) {
        failure = error;
        log.warn({ err: error, launch }, 'chromium did not start; it is started again up to the limit');
      }
    }
    throw failure;
  }

  async function replaceDead(dead: BrowserInstance) {
    // Callers of `current` wait for the new one from here on. A retired instance is not the current one any more.
    const known = current;
    if (isClosed || dead.isAlive() || (await known.catch(() => dead)) !== dead || current !== known) return;
    log.warn('chromium has ended; another one starts');
    options.onReplaced('gone');
    current = successor ?? start();
    await current.catch((error) => {
      // A start that fails because of the shutdown must not end it.
      if (!isClosed) options.onBroken(error);
    });
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
      // The worn one died meanwhile, and this one already replaces it.
      if (current !== known) return;
      current = Promise.resolve(fresh);
      options.onReplaced(reason);
      log.info({ reason, prints: worn.prints() }, 'chromium replaced');
      await worn.retire();
    } catch (error) {
      // The worn one still prints.
      log.warn({ err: error }, 'a worn chromium was not replaced; the next inspection tries again');
    } finally {
      successor = undefined;
      isRecycling = false;
    }
  }

  async function inspect() {
    const instance = await current.catch(() => undefined);
    if (!instance?.isAlive() || isInspecting) return;
    isInspecting = true;
    try {
      // It is asked twice, because on a busy machine one response may be late.
      if ((await isHung(instance)) && (await isHung(instance))) await endHung(instance);
      else await replaceIfWorn(instance);
    } finally {
      isInspecting = false;
    }
  }

  async function endHung(hung: BrowserInstance) {
    log.warn('chromium does not respond and is ended; another one starts');
    await hung.end();
  }

  async function replaceIfWorn(instance: BrowserInstance) {
    if (instance.ageMs() >= recycle.ageMs) await replaceWorn(instance, 'age');
    else if ((await instance.memoryMegabytes()) >= recycle.memoryMegabytes) await replaceWorn(instance, 'memory');
  }
}

export async function isHung(instance: BrowserInstance): Promise<boolean> {
  const hasResponded = instance.check().then(
    () => true,
    () => true, // A failure is a response, too: the browser has ended.
  );
  return !(await resultWithin(ANSWER_LIMIT_MS, hasResponded));
}
