// Documents on one warm page of a real Chromium, without a queue: quick enough for thousands of them.

import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { launchChromium } from '../../../services/renderer/browser/chromium-process.ts';
import { findIsolation } from '../../../services/renderer/browser/isolation.ts';
import { openWarmPage } from '../../../services/renderer/browser/warm-page.ts';
import { documentView } from '../../../services/renderer/document/document-view.ts';
import { compileTemplate } from '../../../services/renderer/document/template.ts';
import { prepareFonts } from '../../../services/renderer/fonts/fonts.ts';
import type { InlineImage } from '../../../services/renderer/images/fetch-image.ts';
import { openTempDir } from '../../../services/renderer/temp-dir.ts';

export interface Printer {
  print(document: PrintableDocument, images?: { logo?: InlineImage }): Promise<Buffer>;
  close(): Promise<void>;
}

export async function openPrinter(chromiumPath: string): Promise<Printer> {
  const tempDir = await openTempDir();
  const isolation = await findIsolation(chromiumPath, makeLogger('print', 'silent'));
  const fontsFile = await prepareFonts(tempDir.folder, isolation);
  const chromium = await launchChromium({ path: chromiumPath, isolation, folder: tempDir.folder, fontsFile });
  const page = await openWarmPage(chromium);
  const render = compileTemplate();
  return {
    async print(document, { logo } = {}) {
      const { view } = documentView(document, { logo, banner: undefined, bodyHtml: undefined });
      const pdf = await page.print(render(view), { isTagged: document.accessible === true });
      await page.tidy();
      return pdf;
    },
    async close() {
      await chromium.close();
      await tempDir.remove();
    },
  };
}
