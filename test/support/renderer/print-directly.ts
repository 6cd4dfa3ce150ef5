// Documents on one warm page of a real Chromium, without a queue: quick enough for thousands of them.

import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { makeLogger } from '#libs/logger.ts';
import { launchChromium } from '../../../services/renderer/chromium-process.ts';
import { documentView } from '../../../services/renderer/document-view.ts';
import { prepareFonts } from '../../../services/renderer/fonts.ts';
import { findIsolation } from '../../../services/renderer/isolation.ts';
import { compileTemplate } from '../../../services/renderer/template.ts';
import { openWarmPage } from '../../../services/renderer/warm-page.ts';
import { openWorkplace } from '../../../services/renderer/workplace.ts';

export interface Printer {
  print(document: PrintableDocument): Promise<Buffer>;
  close(): Promise<void>;
}

export async function openPrinter(chromiumPath: string): Promise<Printer> {
  const workplace = await openWorkplace();
  const isolation = await findIsolation(chromiumPath, makeLogger('print', 'silent'));
  const fontsFile = await prepareFonts(workplace.folder, isolation);
  const chromium = await launchChromium({ path: chromiumPath, isolation, folder: workplace.folder, fontsFile });
  const page = await openWarmPage(chromium);
  const render = compileTemplate();
  return {
    async print(document) {
      const { view } = documentView(document, { logo: undefined, banner: undefined, bodyHtml: undefined });
      const pdf = await page.print(render(view), { isTagged: document.accessible === true });
      await page.tidy();
      return pdf;
    },
    async close() {
      await chromium.close();
      await workplace.remove();
    },
  };
}
