// A page that prints one document after the other, because opening a page costs more than printing on it.
import type { CDPSession } from 'puppeteer-core';
import type { Chromium } from './chromium-process.ts';

/**
 * The number of prints between two garbage collections. Otherwise memory grows to gigabytes, and long documents print
 * four times slower.
 */
const PRINTS_PER_COLLECTION = 25;

export interface PrintOptions {
  /** True for a tagged PDF, whose structure screen readers use. It takes a third more time and bytes. */
  isTagged?: boolean;
}

export interface WarmPage {
  /** Prints a document. @throws when the page or the browser died. The page cannot be used again. */
  print(html: string, options: PrintOptions): Promise<Buffer>;
  /** Returns true when the page died while it was idle. */
  isDead(): boolean;
  /** Frees memory. Call it between two prints. It resolves at once when there is nothing to do. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

// The policy is set once for the life of the page. Policies inside documents would accumulate on a reused page.
const POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'; frame-src 'none'";
const EMPTY = `data:text/html,${encodeURIComponent(`<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">`)}`;

export async function openWarmPage({ control, together }: Chromium): Promise<WarmPage> {
  const create = (enableBeginFrameControl: boolean) =>
    control.send('Target.createTarget', { url: 'about:blank', enableBeginFrameControl });
  // Frames are drawn only on request in tidy. By default Chromium also draws each document for a screen, a tenth of the
  // work.
  const { targetId } = await create(true).catch(() => create(false)); // Not every Chromium supports this.
  const { sessionId } = await control.send('Target.attachToTarget', { targetId, flatten: true });
  const session = control.connection()?.session(sessionId);
  if (!session) throw new Error('Chromium ended while a page was opened');
  let hasCrashed = false;
  let fail: ((error: Error) => void) | undefined;
  session.once('Inspector.targetCrashed', () => {
    hasCrashed = true;
    fail?.(new Error('The page crashed'));
  });
  const frameId = await Promise.race([prepare(session), crash()]);
  let prints = 0;

  return {
    async print(html, { isTagged = false }) {
      if (hasCrashed) throw new Error('The page has crashed');
      prints += 1;
      // Both commands are sent at once, and the protocol keeps their order. The document loads nothing, so there is no
      // event to wait for.
      const done = together(
        () =>
          [
            session.send('Page.setDocumentContent', { frameId, html }),
            session.send('Page.printToPDF', {
              printBackground: true,
              preferCSSPageSize: true,
              generateTaggedPDF: isTagged,
              generateDocumentOutline: false,
            }),
          ] as const,
      );
      // Both must succeed. If the new content did not arrive, the page would print the previous document.
      const [, { data }] = await Promise.race([Promise.all(done), crash()]);
      const pdf = Buffer.from(data, 'base64');
      // Every document has text. A PDF without fonts is blank, because the page lost access to them.
      if (!pdf.includes('/FontName')) throw new Error('The page prints without fonts');
      return pdf;
    },
    isDead: () => hasCrashed,
    async tidy() {
      if (prints % PRINTS_PER_COLLECTION !== 0) return;
      await session.send('HeapProfiler.collectGarbage');
      // Work that waits for a frame would accumulate, 11 KB per document. A Chromium that draws frames by itself
      // rejects this.
      await session.send('HeadlessExperimental.beginFrame').catch(() => undefined);
    },
    async close() {
      // The browser ends the page's process even when the page no longer responds.
      await control.send('Target.closeTarget', { targetId }).catch(() => undefined);
    },
  };

  /**
   * Returns a promise that rejects when the page crashes. Each step has its own: one for the life of the page would
   * keep every document in memory that it was raced with.
   */
  function crash(): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>();
    fail = reject;
    return promise;
  }
}

/** Prepares the session. @returns the id of its frame. */
async function prepare(session: CDPSession): Promise<string> {
  await session.send('Inspector.enable');
  await session.send('Emulation.setScriptExecutionDisabled', { value: true });
  await navigate(session, EMPTY);
  await forbidRequests(session);
  const { frameTree } = await session.send('Page.getFrameTree');
  return frameTree.frame.id;
}

// The policy does not keep a document from navigating its page elsewhere, where no policy holds for the documents after
// it. Requests are aborted and not failed, so that the page stays where it is and shows no error. There are no other
// requests, so this costs nothing.
async function forbidRequests(session: CDPSession) {
  session.on('Fetch.requestPaused', ({ requestId }) => {
    // The page may have ended before the answer arrives.
    session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' }).catch(() => undefined);
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
}

async function navigate(session: CDPSession, url: string) {
  await session.send('Page.enable');
  const isLoaded = new Promise<void>((resolve) => session.once('Page.loadEventFired', () => resolve()));
  await session.send('Page.navigate', { url });
  await isLoaded;
  // The page's events are not needed.
  await session.send('Page.disable');
}
