// `npm run pictures`: prints the sample documents and makes the pictures of docs/documents.md. `--help` says how.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCanvas } from '@napi-rs/canvas';
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import sharp from 'sharp';
import { findChromium } from '../../deploy/backends/chromium.ts';
import { showProgress } from '../../deploy/backends/progress.ts';
import { openPrinter } from '../../test/support/renderer/print-directly.ts';
import { readCommandLine } from '../command-line.ts';
import { PICTURES } from './samples.ts';

const HELP = `Prints the sample documents as they look now, and makes the pictures of docs/documents.md from their first pages.

Usage: npm run pictures -- [options]

  --folder PATH   where the pictures go (default docs/pictures)
`;

const PAGE_WIDTH = 628;
const GAP = 20;
const GROUND = '#e8e7ec';
const COLOURS = 32;

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="370" height="128"><circle cx="64" cy="64" r="54" fill="none" stroke="#c8502a" stroke-width="16"/><path d="M64 24L88 64L64 104L40 64Z" fill="#1b2a33"/><path d="M150 36h210v20h-210z" fill="#1b2a33"/><path d="M150 80h140v20h-140z" fill="#c8502a"/></svg>`;
const LOGO_PAINT = [
  { colour: [27, 42, 51] as [number, number, number], share: 0.5 },
  { colour: [200, 80, 42] as [number, number, number], share: 0.5 },
];

const { values } = readCommandLine(HELP, { options: { folder: { type: 'string', default: 'docs/pictures' } } });
const chromium = await findChromium({ env: process.env, progress: showProgress(process.stderr) });
const printer = await openPrinter(chromium.command);
const png = await sharp(Buffer.from(LOGO)).png().toBuffer();
const logo = { dataUri: `data:image/png;base64,${png.toString('base64')}`, paint: LOGO_PAINT };
try {
  for (const [name, samples] of Object.entries(PICTURES)) {
    const pages: Buffer[] = [];
    for (const { document, hasLogo } of samples) {
      pages.push(await firstPage(await printer.print(document, hasLogo ? { logo } : {})));
    }
    const path = join(values.folder, `${name}.png`);
    await writeFile(path, await sideBySide(pages));
    process.stdout.write(`${path}\n`);
  }
} finally {
  await printer.close();
}

async function firstPage(pdf: Buffer): Promise<Buffer> {
  const loading = getDocument({ data: Uint8Array.from(pdf), verbosity: VerbosityLevel.ERRORS });
  try {
    const page = await (await loading.promise).getPage(1);
    const { width } = page.getViewport({ scale: 1 });
    const viewport = page.getViewport({ scale: PAGE_WIDTH / width });
    const canvas = createCanvas(viewport.width, viewport.height);
    // The two libraries mean the same by a canvas, but only one has the browser's types.
    await page.render({ canvas: canvas as never, viewport }).promise;
    return canvas.toBuffer('image/png');
  } finally {
    await loading.destroy();
  }
}

async function sideBySide(pages: readonly Buffer[]): Promise<Buffer> {
  const heights = await Promise.all(pages.map(async (page) => (await sharp(page).metadata()).height));
  const width = GAP + pages.length * (PAGE_WIDTH + GAP);
  const ground = {
    create: { width, height: Math.max(...heights) + 2 * GAP, channels: 3, background: GROUND },
  } as const;
  return sharp(ground)
    .composite(pages.map((input, index) => ({ input, left: GAP + index * (PAGE_WIDTH + GAP), top: GAP })))
    .png({ palette: true, colours: COLOURS, dither: 0, effort: 10, compressionLevel: 9 })
    .toBuffer();
}
