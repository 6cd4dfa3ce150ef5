// The floor of a document: the same HTML on warm pages of the same Chromium, by the protocol alone.
import { launchChromium } from '../../services/renderer/chromium-process.ts';
import { documentView } from '../../services/renderer/document-view.ts';
import { prepareFonts } from '../../services/renderer/fonts.ts';
import { findIsolation } from '../../services/renderer/isolation.ts';
import { compileTemplate } from '../../services/renderer/template.ts';
import { openWarmPage } from '../../services/renderer/warm-page.ts';
import { openWorkplace } from '../../services/renderer/workplace.ts';
import { anInvoice } from '../../test/support/renderer/documents.ts';
import { testLog } from '../../test/support/workspace.ts';

export interface PdfFloor {
  /** Of the first Chromium process. */
  pid: number;
  /** @param page which of the pages prints; one at a time. */
  print: (page: number, html: string) => Promise<Buffer>;
  close: () => Promise<void>;
}

export async function openPdfFloor(chromiumPath: string, pages: number): Promise<PdfFloor> {
  const workplace = await openWorkplace();
  const isolation = await findIsolation(chromiumPath, testLog);
  const fontsFile = await prepareFonts(workplace.folder, isolation);
  const chromium = await launchChromium({ path: chromiumPath, isolation, folder: workplace.folder, fontsFile });
  const opened = await Promise.all(Array.from({ length: pages }, () => openWarmPage(chromium)));
  return {
    pid: chromium.pid,
    async print(index, html) {
      const page = opened[index] as (typeof opened)[number];
      const pdf = await page.print(html, {});
      await page.tidy();
      return pdf;
    },
    async close() {
      await chromium.close();
      await workplace.remove();
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
