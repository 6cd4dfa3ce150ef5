// A page that prints one document after the other: making a page costs more than printing on it.
import type { CDPSession } from 'puppeteer-core';
import type { Chromium } from './chromium-process.ts';

/** Without it memory grows to gigabytes, and long documents print four times slower. */
const PRINTS_PER_COLLECTION = 25;

export interface PrintOptions {
  /** Structure for screen readers: costs a third more time and bytes. */
  isTagged?: boolean;
}

export interface WarmPage {
  /** @throws when the page or the browser died; the page is then of no use any more. */
  print(html: string, options: PrintOptions): Promise<Buffer>;
  /** It died while nobody printed on it. */
  isDead(): boolean;
  /** Call between two prints; resolves at once when there is nothing to do. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

// Set once for the life of the page: a policy inside each document would pile up on a page that is used again and again.
const POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'; frame-src 'none'";
const EMPTY = `data:text/html,${encodeURIComponent(`<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">`)}`;

export async function openWarmPage({ control, together }: Chromium): Promise<WarmPage> {
  const create = (enableBeginFrameControl: boolean) =>
    control.send('Target.createTarget', { url: 'about:blank', enableBeginFrameControl });
  // Frames come when tidy asks for one. Otherwise Chromium draws each document for a screen, too: a tenth of the work.
  const { targetId } = await create(true).catch(() => create(false)); // Not every Chromium can.
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
      // Both are sent at once, the protocol keeps their order. Everything is inlined, so there is no load to wait for.
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
      // Had the content not been set, the print would show the document before: both must succeed.
      const [, { data }] = await Promise.race([Promise.all(done), crash()]);
      const pdf = Buffer.from(data, 'base64');
      // Every document has text. One without fonts is a blank sheet: the page lost its way to them.
      if (!pdf.includes('/FontName')) throw new Error('The page prints without fonts');
      return pdf;
    },
    isDead: () => hasCrashed,
    async tidy() {
      if (prints % PRINTS_PER_COLLECTION !== 0) return;
      await session.send('HeapProfiler.collectGarbage');
      // What waits for a frame would pile up, 11 KB with each document. A Chromium that makes its frames itself refuses.
      await session.send('HeadlessExperimental.beginFrame').catch(() => undefined);
    },
    async close() {
      // The browser ends the page's process even when the page itself does not answer any more.
      await control.send('Target.closeTarget', { targetId }).catch(() => undefined);
    },
  };

  /** Rejects when the page crashes. Of one step: a promise for the life of the page would keep every document that was ever raced against it. */
  function crash(): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>();
    fail = reject;
    return promise;
  }
}

/** @returns the id of its frame. */
async function prepare(session: CDPSession): Promise<string> {
  await session.send('Inspector.enable');
  await session.send('Emulation.setScriptExecutionDisabled', { value: true });
  await navigate(session, EMPTY);
  await forbidRequests(session);
  const { frameTree } = await session.send('Page.getFrameTree');
  return frameTree.frame.id;
}

// The policy does not forbid a document to send its page elsewhere, where no policy holds for the documents after it. Aborted, not
// failed: the page stays where it is, and shows no error. Nothing is asked for otherwise, so this costs nothing.
async function forbidRequests(session: CDPSession) {
  session.on('Fetch.requestPaused', ({ requestId }) => {
    // The page may be gone before the answer gets there.
    session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' }).catch(() => undefined);
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
}

async function navigate(session: CDPSession, url: string) {
  await session.send('Page.enable');
  const isLoaded = new Promise<void>((resolve) => session.once('Page.loadEventFired', () => resolve()));
  await session.send('Page.navigate', { url });
  await isLoaded;
  // Its events would only be thrown away.
  await session.send('Page.disable');
}
