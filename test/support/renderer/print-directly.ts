// Documents on one warm page of a real Chromium, made as the renderer makes them but without a queue: quick enough for thousands of them.

import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { openMarkdown } from '#libs/markdown/markdown.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { launchChromium } from '../../../services/renderer/browser/chromium-process.ts';
import { findIsolation } from '../../../services/renderer/browser/isolation.ts';
import { openWarmPage } from '../../../services/renderer/browser/warm-page.ts';
import { compileTemplate } from '../../../services/renderer/document/template.ts';
import { prepareFonts } from '../../../services/renderer/fonts/fonts.ts';
import type { DecodedImage, ImageUse } from '../../../services/renderer/images/decode-image.ts';
import { openImageDecoder } from '../../../services/renderer/images/image-decoder.ts';
import { finished, type LoadedDocument, printed } from '../../../services/renderer/make-pdf.ts';
import { openTempDir } from '../../../services/renderer/temp-dir.ts';

export interface Printer {
  print(document: PrintableDocument, loaded?: Partial<LoadedDocument>): Promise<Buffer>;
  toHtml(markdown: string): Promise<string>;
  decode(image: Buffer, use: ImageUse): Promise<DecodedImage>;
  close(): Promise<void>;
}

export async function openPrinter(chromiumPath: string): Promise<Printer> {
  const tempDir = await openTempDir();
  const isolation = await findIsolation(chromiumPath, makeLogger('print', 'silent'));
  const fontsFile = await prepareFonts(tempDir.folder, isolation);
  const chromium = await launchChromium({ path: chromiumPath, isolation, folder: tempDir.folder, fontsFile });
  const page = await openWarmPage(chromium);
  const markdown = openMarkdown();
  const render = compileTemplate();
  const decoder = await openImageDecoder(isolation, fontsFile);
  return {
    async print(document, { logo, banner, bodyHtml } = {}) {
      const print = (html: string, isTagged: boolean) => page.print(html, { isTagged });
      const onPage = await printed({ document, logo, banner, bodyHtml }, { render, print });
      await page.tidy();
      return await finished(onPage, document);
    },
    toHtml: (text) => markdown.toHtml(text, { deadlineAt: Date.now() + 30_000, signal: AbortSignal.timeout(30_000) }),
    async decode(image, use) {
      const decoded = await decoder.decode(image, use, { accountId: 'account', signal: AbortSignal.timeout(30_000) });
      if ('fault' in decoded) throw new Error(decoded.fault);
      return decoded;
    },
    async close() {
      decoder.close();
      await markdown.close();
      await chromium.close();
      await tempDir.remove();
    },
  };
}
