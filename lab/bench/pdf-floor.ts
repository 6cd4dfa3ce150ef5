// The floor of a document: the same HTML on warm pages of the same Chromium, by the protocol alone.
import { setTimeout as pause } from 'node:timers/promises';
import { launchChromium } from '../../services/renderer/browser/chromium-process.ts';
import { findIsolation } from '../../services/renderer/browser/isolation.ts';
import { openWarmPage } from '../../services/renderer/browser/warm-page.ts';
import { documentView } from '../../services/renderer/document/document-view.ts';
import { compileTemplate } from '../../services/renderer/document/template.ts';
import { prepareFonts } from '../../services/renderer/fonts/fonts.ts';
import { openTempDir } from '../../services/renderer/temp-dir.ts';
import { anInvoice } from '../../test/support/renderer/documents.ts';
import { testLog } from '../../test/support/workspace.ts';

export interface PdfFloor {
  /** The process id of the first process of the current Chromium. */
  readonly pid: number;
  /** How many Chromium processes were started: a figure during which this grows is not one of a floor. */
  readonly starts: number;
  /**
   * Starts another Chromium and prints again when the one that prints has ended.
   * @param page which of the pages prints; one at a time.
   */
  print: (page: number, html: string) => Promise<Buffer>;
  close: () => Promise<void>;
}

/** One that ends again and again says something about this machine, and no figure would. */
const STARTS_MAX = 10;
const ENDS_LIMIT_MS = 1_000;

export async function openPdfFloor(chromiumPath: string, pages: number): Promise<PdfFloor> {
  const tempDir = await openTempDir();
  const isolation = await findIsolation(chromiumPath, testLog);
  const fontsFile = await prepareFonts(tempDir.folder, isolation);
  let starts = 0;
  let pid = 0;

  async function start() {
    starts += 1;
    const chromium = await launchChromium({ path: chromiumPath, isolation, folder: tempDir.folder, fontsFile });
    pid = chromium.pid;
    return { chromium, opened: await Promise.all(Array.from({ length: pages }, () => openWarmPage(chromium))) };
  }
  let current = start();
  await current;

  return {
    get pid() {
      return pid;
    },
    get starts() {
      return starts;
    },
    async print(index, html) {
      for (;;) {
        const used = current;
        const { chromium, opened } = await used;
        const page = opened[index] as (typeof opened)[number];
        try {
          const pdf = await page.print(html, {});
          await page.tidy();
          return pdf;
        } catch (error) {
          // The page learns of it a moment before the browser does.
          await Promise.race([chromium.gone, pause(ENDS_LIMIT_MS)]);
          if (chromium.isAlive() || starts === STARTS_MAX) throw error;
          if (current !== used) continue; // The other page was first.
          process.stderr.write(`Chromium ${chromium.pid} of the floor has ended: another one is started\n`);
          current = start();
        }
      }
    },
    async close() {
      await (await current).chromium.close();
      await tempDir.remove();
    },
  };
}

/** The HTML the renderer makes of `invoiceOf(lines)`. */
export function htmlOf(lines: number): string {
  const { view } = documentView(invoiceOf(lines), { logo: undefined, banner: undefined, bodyHtml: undefined });
  return compileTemplate()(view);
}

/** Eight lines fill one page, 150 fill five. */
export function invoiceOf(lines: number) {
  const lineItems = Array.from({ length: lines }, (_none, index) => ({
    description: `Design and development, part ${index + 1}`,
    qty: 2,
    rate: '62.50',
  }));
  return anInvoice({ lineItems, amount: lines * 150, notes: 'Thank you.', terms: 'Payment within 14 days.' });
}
