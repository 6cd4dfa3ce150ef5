// One Chromium with its warm pages, from its start until its last print has ended.
import { resultWithin } from '#libs/with-timeout.ts';
import { type Chromium, type ChromiumOptions, launchChromium } from './chromium-process.ts';
import { openPageMemory, type PageMemory } from './page-memory.ts';
import { groupMemoryMegabytes } from './process-tree.ts';
import { openWarmPage, type WarmPage } from './warm-page.ts';

const START_LIMIT_MS = 30_000;
/** The time after which a page counts as stuck. Opening, tidying or closing one takes a tenth of a second. */
const PAGE_LIMIT_MS = 12_000;
/** Longer than any print may take. A print that still hangs then ends with the browser. */
const DRAIN_LIMIT_MS = 15_000;

export interface BrowserInstance {
  /** Waits until a page is idle. @throws when this instance is retired or dead. The caller then asks the next one. */
  take(): Promise<WarmPage>;
  /** Gives back a page that can print again. */
  release(page: WarmPage): Promise<void>;
  /** Gives back a page that is stuck or dead. Another is opened in its place. */
  replace(page: WarmPage): Promise<void>;
  /** Takes no further print, waits for those in flight, then closes. */
  retire(): Promise<void>;
  /** Ends Chromium at once, with the prints in flight. */
  end(): Promise<void>;
  isAlive(): boolean;
  /** Resolves when Chromium has ended, for whatever reason. */
  gone: Promise<void>;
  /** Returns the number of prints since the start. */
  prints(): number;
  ageMs(): number;
  memoryMegabytes(): Promise<number>;
  pageMemory: PageMemory;
  check(): Promise<void>;
  pid: number;
}

export interface InstanceOptions extends ChromiumOptions {
  pages: number;
  /** The memory limit of the process of one page while it prints. */
  pageMegabytes: number;
  /** Throws when the page does not print a document correctly. */
  verifyPage: (page: WarmPage) => Promise<void>;
  /** The limit for a step of a page. 12 s unless given. */
  pageLimitMs?: number;
}

export async function startInstance(options: InstanceOptions): Promise<BrowserInstance> {
  const { pageLimitMs = PAGE_LIMIT_MS } = options;
  const chromium = await launchChromium(options);
  const idle: WarmPage[] = [];
  try {
    idle.push(...(await openPages(chromium, options)));
  } catch (error) {
    await chromium.close();
    throw error;
  }
  const startedAt = performance.now();
  const waiting: { resolve: (page: WarmPage) => void; reject: (error: Error) => void }[] = [];
  let prints = 0;
  let busy = 0;
  let isOver = false;
  let whenIdle: (() => void) | undefined;

  void chromium.gone.then(() => rejectWaiting('Chromium is gone'));

  function rejectWaiting(reason: string) {
    isOver = true;
    for (const { reject } of waiting.splice(0)) reject(new Error(reason));
  }

  function offer(page: WarmPage) {
    const next = waiting.shift();
    if (next) next.resolve(page);
    else idle.push(page);
  }

  function markIdle() {
    busy -= 1;
    if (busy === 0) whenIdle?.();
  }

  return {
    pid: chromium.pid,
    gone: chromium.gone,
    isAlive: () => !isOver && chromium.isAlive(),
    prints: () => prints,
    ageMs: () => performance.now() - startedAt,
    memoryMegabytes: () => groupMemoryMegabytes(chromium.pid),
    pageMemory: openPageMemory(chromium.pid, options.pageMegabytes),
    async check() {
      await chromium.control.send('Browser.getVersion');
    },
    async take() {
      if (isOver) throw new Error('Chromium is being replaced');
      const page = idle.pop() ?? (await new Promise<WarmPage>((resolve, reject) => waiting.push({ resolve, reject })));
      prints += 1;
      busy += 1;
      return page;
    },
    async release(page) {
      markIdle();
      if ((await outcomeOf(page.tidy())) === 'done') offer(page);
      else await reopen(page); // The page died while it was idle.
    },
    async replace(page) {
      markIdle();
      await reopen(page);
    },
    async retire() {
      rejectWaiting('Chromium is being replaced');
      const isIdle = new Promise<void>((resolve) => (whenIdle = resolve));
      if (busy > 0) await resultWithin(DRAIN_LIMIT_MS, Promise.race([isIdle, chromium.gone]));
      await chromium.close();
    },
    end: () => chromium.close(),
  };

  async function reopen(page: WarmPage) {
    await outcomeOf(page.close());
    const open = () => outcomeOf(openVerifiedPage(chromium, options).then(offer));
    if (isOver) return;
    let outcome = await open();
    if (outcome === 'failed') {
      if (isOver) return;
      outcome = await open(); // The process of the page may have died with the page before.
    }
    // A browser that cannot open a page is useless. Its end starts the next one.
    if (outcome !== 'done') await chromium.close();
  }

  /**
   * Returns the outcome of a step, or undefined when it takes too long: a page whose process was killed at the wrong
   * moment never responds.
   */
  async function outcomeOf(step: Promise<void>): Promise<'done' | 'failed' | undefined> {
    const outcome = step.then(
      () => 'done' as const,
      () => 'failed' as const,
    );
    return resultWithin(pageLimitMs, outcome);
  }
}

async function openPages(chromium: Chromium, options: InstanceOptions): Promise<WarmPage[]> {
  const opening = Array.from({ length: options.pages }, () => openVerifiedPage(chromium, options));
  const pages = await resultWithin(START_LIMIT_MS, Promise.all(opening));
  if (!pages) throw new Error('Chromium opened no page');
  return pages;
}

async function openVerifiedPage(chromium: Chromium, { verifyPage }: InstanceOptions): Promise<WarmPage> {
  const page = await openWarmPage(chromium);
  await verifyPage(page);
  return page;
}
