// Documents as the renderer prints them, in every look and of any characters and images, and some with the XML of a case inside.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import { embedXml } from '#libs/e-invoice/embed.ts';
import { FORMAT_NAMES, formatOf } from '#libs/e-invoice/formats.ts';
import { missingIn } from '#libs/e-invoice/missing.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { findChromium } from '../../deploy/backends/chromium.ts';
import { showProgress } from '../../deploy/backends/progress.ts';
import { readCharacterMap } from '../../services/renderer/fonts/character-map.ts';
import { fontFiles } from '../../services/renderer/fonts/fonts.ts';
import { aQuote, aRecord, LAYOUTS, STYLES } from '../support/renderer/documents.ts';
import { openPrinter, type Printer } from '../support/renderer/print-directly.ts';
import { brokenFiles } from './broken-files.ts';
import { type Case, cases } from './cases.ts';
import { termsOfCase } from './terms-of-case.ts';

const RANDOM = 40;

interface Printable {
  document: PrintableDocument;
  logo?: Buffer | undefined;
  banner?: Buffer | undefined;
  bodyMarkdown?: string;
}

/**
 * Writes the files. @param isSample a few of each kind.
 * @returns name and verdict of each case by its file.
 */
export async function writePdfs(into: string, { isSample, seed }: { isSample: boolean; seed: number }) {
  const chromium = await findChromium({ env: process.env, progress: showProgress(process.stderr) });
  const printer = await openPrinter(chromium.command);
  const written = new Map<string, { name: string; isBroken: boolean }>();
  const write = async (name: string, pdf: Buffer, isBroken = false) => {
    const file = `${written.size}.pdf`;
    await writeFile(join(into, file), pdf);
    written.set(file, { name, isBroken });
  };
  try {
    const printables = [...Object.entries(await documents()), ...random(isSample ? 1 : RANDOM, seed)];
    for (const [name, printable] of printables) {
      if (!isSample || SAMPLE.has(name) || name.startsWith('random'))
        await write(name, await print(printer, printable));
    }
    const pages = await printer.print(aRecord());
    for (const [name, pdf] of hybrids(pages)) if (!isSample || SAMPLE.has(name)) await write(name, pdf);
    for (const [name, file] of brokenFiles(pages)) await write(`a file with ${name}`, file, true);
  } finally {
    await printer.close();
  }
  return written;
}

const SAMPLE = new Set([
  'elegant standard',
  'a logo with transparency',
  'accessible in every script',
  '«mixed rates» as facturx',
  '«files of every type» as facturx-basic',
  '«credit note» as facturx-xrechnung',
]);

/** Tries again, because on a busy machine the decoder starts slower than its own deadline. */
async function decoded<Image>(decode: () => Promise<Image>): Promise<Image> {
  return decode().catch(decode).catch(decode);
}

async function print(printer: Printer, { document, logo, banner, bodyMarkdown }: Printable): Promise<Buffer> {
  return printer.print(document, {
    logo: logo && (await decoded(() => printer.decode(logo, 'logo'))),
    banner: banner && (await decoded(() => printer.decode(banner, `banner-${document.layoutType}`))),
    bodyHtml: bodyMarkdown && (await printer.toHtml(bodyMarkdown)),
  });
}

const SCRIPTS =
  'Rechnung façade Ελληνικά Їжак فاتورة للإصدار می‌شود חשבונית चालान श्री চালান ਚਲਾਨ தமிழ் తెలుగు ಕನ್ನಡ ഇൻവോയ്സ് ශ්‍රී ใบแจ้งหนี้ ລາວ វិក្កយបត្រ ငွေတောင်း བོད་ ደረሰኝ ინვოისი Հաշիվ 发票 發票 請求書 デザイン 청구서 🙂 👩‍💻 e\u0301x\u0332 ✓ ∑ ₹';
const MARKDOWN = `# Offer
### A heading that leaves one out
*kind* **regards** ~~old~~ \`x = 1\` [link](https://example.com/a?b=1&c) <mailto:ada@example.com> and a note[^1].

- one
  - two
    1. three

  loose
- [x] done
- [ ] open

1. first

   second paragraph
2. > quoted

| a | b |
|---|--:|
| c | **d** |
|   | e |

> a quotation

\`\`\`
code();
\`\`\`

---

[^1]: The note.
`;

const WAYS = {
  bankDetails: 'Studio North\nIBAN DE89 3704 0044 0532 0130 00',
  transferCode: 'upi://pay?pa=studio@okbank&pn=Studio&am=981.40&cu=INR&tr=INV-0007',
  payLinks: [{ label: 'Wise', url: 'https://wise.example/INV-0007?sum=981.40' }],
};

async function documents(): Promise<Record<string, Printable>> {
  const looks = STYLES.flatMap((fontStyle) =>
    LAYOUTS.flatMap((layoutType) =>
      [true, false].map((showBanner): [string, Printable] => [
        `${fontStyle} ${layoutType}${showBanner ? '' : ' without a banner'}`,
        { document: aRecord({ fontStyle, layoutType, showBanner, notes: SCRIPTS, brandColor: '#0a7c5c' }) },
      ]),
    ),
  );
  const accessible = STYLES.flatMap((fontStyle) =>
    LAYOUTS.map((layoutType): [string, Printable] => [
      `accessible ${fontStyle} ${layoutType}`,
      { document: aRecord({ fontStyle, layoutType, accessible: true }), bodyMarkdown: MARKDOWN },
    ]),
  );
  const many = Array.from({ length: 150 }, (_none, index) => ({
    description: `Line ${index}\nDetail`,
    qty: '1',
    rate: '10',
    discount: '0',
    amount: 10,
  }));
  const time = [
    { description: 'Design', hours: '2.00', billed: '2.00', entries: [{ date: '2026-11-01', hours: '2.00' }] },
  ];
  const shape = { width: 300, height: 120 };
  const svg = (paint: string) =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="120"><defs><linearGradient id="g"><stop stop-color="#e33"/><stop offset="1" stop-color="#33e" stop-opacity="0.2"/></linearGradient></defs>${paint}</svg>`,
    );
  const drawn = svg('<rect width="300" height="120" fill="url(#g)"/><circle cx="150" cy="60" r="50" opacity="0.5"/>');
  const opaque = sharp({ create: { ...shape, channels: 3, background: '#c33' } });
  const images: Record<string, Buffer> = {
    'a logo with transparency': await sharp(drawn).png().toBuffer(),
    'a logo in grey': await opaque.clone().greyscale().png().toBuffer(),
    'a logo of 16 bits': await opaque.clone().toColourspace('rgb16').png().toBuffer(),
    'a logo in CMYK': await opaque.clone().toColourspace('cmyk').jpeg().toBuffer(),
    'a logo with a wide profile': await opaque.clone().withIccProfile('p3').jpeg().toBuffer(),
    'a logo as SVG': drawn,
  };
  const logos = Object.entries(images).map(([name, logo]): [string, Printable] => [
    name,
    {
      document: aRecord({ logoUrl: 'data:', layoutType: 'overlay' }),
      logo,
      banner: images['a logo with transparency'],
    },
  ]);
  const banners = LAYOUTS.map((layoutType): [string, Printable] => [
    `a picture as banner, ${layoutType}`,
    { document: aRecord({ bannerUrl: 'data:', layoutType }), banner: images['a logo in CMYK'] },
  ]);
  return Object.fromEntries<Printable>([
    ...looks,
    ...accessible,
    ...logos,
    ...banners,
    ['a quote to sign with markdown', { document: aQuote({ requiresSignature: true }), bodyMarkdown: MARKDOWN }],
    ['150 lines', { document: aRecord({ lineItems: many }) }],
    ['accessible, 150 lines', { document: aRecord({ lineItems: many, accessible: true }) }],
    ['accessible in every script', { document: aRecord({ notes: SCRIPTS, accessible: true }) }],
    ['Arabic', { document: aRecord({ locale: 'ar-EG', notes: 'فاتورة لا للإصدار' }) }],
    ['accessible, Arabic', { document: aRecord({ locale: 'ar-EG', notes: 'فاتورة لا للإصدار', accessible: true }) }],
    ['hours', { document: aRecord({ time }) }],
    ['accessible, hours', { document: aRecord({ time, accessible: true }) }],
    [
      'accessible, lines with empty cells',
      { document: aRecord({ lineItems: [...many.slice(0, 2), { description: 'A remark' }], accessible: true }) },
    ],
    ['ways to pay', { document: aRecord(WAYS) }],
    ['accessible, ways to pay', { document: aRecord({ ...WAYS, accessible: true }) }],
    [
      'accessible, a transfer by a code',
      { document: aRecord({ ...WAYS, transferCode: 'BCD\n002', accessible: true }) },
    ],
    ['a test', { document: aRecord({ isTest: true, mark: 'draft' }) }],
    [
      'names that look like PDF and XML',
      { document: aRecord({ partnerName: '\\) /ModDate <41> &<x>', number: '(1)/Creator <42> 日本\u202e' }) },
    ],
  ]);
}

/** Every character that a bundled face has, in every part of a document. Faces have Han and Hangul in tens of thousands: a fourth of the characters are of all. */
function random(count: number, seed: number): [string, Printable][] {
  const maps = fontFiles().map(readCharacterMap);
  const all: string[] = [];
  for (let code = 0x20; code < 0x3_00_00; code += 1) {
    const character = String.fromCodePoint(code);
    if (!/[\p{Cc}\p{Cs}]/u.test(character) && maps.some((has) => has(code))) all.push(character);
  }
  const others = all.filter((character) => !/[\p{Script=Han}\p{Script=Hangul}]/u.test(character));
  const character = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...others) },
    { weight: 1, arbitrary: fc.constantFrom(...all) },
  );
  const word = fc.string({ unit: character, minLength: 1, maxLength: 9 });
  const text = (most: number) => fc.array(word, { minLength: 1, maxLength: most }).map((words) => words.join(' '));
  const line = fc.record({ description: text(12) }).map((one) => ({ ...one, qty: '1', rate: '1', amount: 1 }));
  const printable = fc
    .record({
      document: fc.record({
        fontStyle: fc.constantFrom(...STYLES),
        layoutType: fc.constantFrom(...LAYOUTS),
        notes: text(60),
        terms: text(20),
        partnerName: text(3),
        clientName: text(3),
        subject: text(5),
        number: word,
        lineItems: fc.array(line, { minLength: 1, maxLength: 5 }),
      }),
      bodyMarkdown: fc
        .tuple(text(5), text(5), text(5), text(5))
        .map(([a, b, c, d]) => `# ${a}\n\n*${b}* **${c}** \`${d}\``),
    })
    .map(({ document, bodyMarkdown }): Printable => ({ document: aRecord(document), bodyMarkdown }));
  return fc.sample(printable, { numRuns: count, seed }).map((one, index) => [`random characters ${index}`, one]);
}

/** Each case in each format that stands in a PDF, inside the same pages. */
function* hybrids(pages: Buffer): Generator<[name: string, pdf: Buffer]> {
  for (const format of FORMAT_NAMES) {
    const { embedded } = formatOf(format);
    if (!embedded) continue;
    for (const [name, one] of Object.entries<Case>(cases)) {
      const terms = termsOfCase(one);
      if (missingIn(terms, format).length > 0) continue;
      yield [
        `«${name}» as ${format}`,
        embedXml(pages, Buffer.from(writeEInvoice({ ...terms, attachments: [] }, format)), embedded, terms.attachments),
      ];
    }
  }
}
