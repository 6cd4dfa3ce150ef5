// A PDF of Chromium as an archive file, read by another library. Whether it fulfils PDF/A-3 is judged by `npm run e-invoices`.
import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { archiveFile, type EmbeddedFile, withEmbeddedFiles } from '#libs/pdf/archive.ts';
import { srgbProfile } from '#libs/pdf/srgb-profile.ts';
import { UnknownForm } from '#libs/pdf/structure.ts';
import { textString } from '#libs/pdf/text-string.ts';
import type { ExtensionSchema } from '#libs/pdf/xmp.ts';
import { chromiumPdf } from '../../support/chromium-pdf.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';

const description = { author: 'Studio North', language: 'en-GB', isAccessible: false };
const attachment: EmbeddedFile = {
  name: 'data (1).xml',
  bytes: Buffer.from('<a>ä</a>'),
  type: 'text/xml',
  description: 'Data',
  relation: 'Data',
};
const schema: ExtensionSchema = {
  name: 'Schema',
  uri: 'urn:example',
  prefix: 'ex',
  properties: [{ name: 'Kind', value: 'a & b', type: 'Text', category: 'external', description: 'The kind' }],
};
const withAttachment = (pdf: Buffer) => withEmbeddedFiles(pdf, [attachment], schema);

async function read(pdf: Buffer) {
  const { info, metadata, attachments, fingerprints } = await readPdf(pdf);
  return { info, metadata: metadata as NonNullable<typeof metadata>, attachments, fingerprints };
}

/** Returns what stands at each place that the last table of the file names. */
function placesOf(pdf: Buffer): string[] {
  const text = pdf.toString('latin1');
  const table = text.slice(text.lastIndexOf('\nxref\n') + 6, text.lastIndexOf('trailer'));
  return Array.from(table.matchAll(/(\d+) 1\n(\d{10}) 00000 n \n/g), ([, number = '', at]) =>
    text.slice(Number(at), Number(at) + number.length + 6).replace(number, 'N'),
  );
}

test.each([
  ['ASCII', 'Invoice (1) \\ end'],
  ['another script', 'فاتورة 請求書 🙂'],
  ['what looks like another entry', '/Author <41> /ModDate <42>'],
  ['what looks like XML', '<b>&amp;]]></b>'],
])('when title and author are %s, then metadata and document information say the same', async (_what, text) => {
  const pdf = archiveFile(chromiumPdf({ title: textString(text) }), { ...description, author: text });
  const { info, metadata } = await read(pdf);

  expect([info['Title'], info['Author'], info['Language']]).toEqual([text, text, 'en-GB']);
  expect([metadata.get('dc:title'), metadata.get('dc:creator'), metadata.get('pdfaid:part')]).toEqual([
    text,
    [text],
    '3',
  ]);
  expect([metadata.get('xmp:createdate'), metadata.get('pdfaid:conformance')]).toEqual([
    '2026-11-21T09:30:00+00:00',
    'B',
  ]);
});

test('when a text has characters that XML cannot hold, then the metadata has a replacement for each', async () => {
  const title = `<FEFF${Buffer.from('a\u0001\ufffe\ud800b', 'utf16le').swap16().toString('hex')}>`;
  const { metadata } = await read(archiveFile(chromiumPdf({ title }), description));

  expect(metadata.get('dc:title')).toBe('a\ufffd\ufffd\ufffdb');
});

test('when a file is updated twice, then each table names the places of its objects, and nothing in front moves', () => {
  const printed = chromiumPdf();
  const archive = archiveFile(printed, description);
  const hybrid = withAttachment(archive);

  expect(placesOf(archive)).toEqual(Array(5).fill('N 0 obj'));
  expect(placesOf(hybrid)).toEqual(Array(5).fill('N 0 obj'));
  expect(archive.subarray(0, printed.length)).toEqual(printed);
  expect(hybrid.subarray(0, archive.length)).toEqual(archive);
});

test('when the content is the same, then so are the bytes, and the identifier follows the content', async () => {
  const [one, same, other] = ['a', 'a', 'b'].map((author) => archiveFile(chromiumPdf(), { ...description, author }));

  expect(same).toEqual(one);
  const [first, second] = [await read(one as Buffer), await read(other as Buffer)];
  expect(first.fingerprints).not.toEqual(second.fingerprints);
  // The first half of the identifier stays through updates, the second does not.
  const updated = await read(withAttachment(one as Buffer));
  expect(updated.fingerprints[0]).toBe(first.fingerprints[0]);
  expect(updated.fingerprints[1]).not.toBe(first.fingerprints[0]);
});

test('when a file is accessible, then it claims PDF/A-3a and PDF/UA-1 and describes the schema of that claim', async () => {
  const pdf = archiveFile(chromiumPdf(), { ...description, isAccessible: true });
  const { metadata } = await read(pdf);

  expect([metadata.get('pdfaid:conformance'), metadata.get('pdfuaid:part')]).toEqual(['A', '1']);
  expect(pdf.toString('latin1')).toContain('<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/<');
});

describe('an embedded file', () => {
  test('when a file is embedded, then its bytes come out again, and the metadata names it', async () => {
    const { attachments, metadata } = await read(withAttachment(archiveFile(chromiumPdf(), description)));

    expect(attachments).toEqual({ 'data (1).xml': '<a>ä</a>' });
    expect(metadata.get('ex:kind')).toBe('a & b');
  });

  test('when several are, then all come out again, and their names are in the order of their bytes', async () => {
    const named = ['zeit.csv', 'Stunden für Ä.csv', 'B(1).csv', 'B\\.csv'].map((name) => ({ ...attachment, name }));
    const pdf = withEmbeddedFiles(archiveFile(chromiumPdf(), description), [attachment, ...named], schema);

    expect(Object.keys((await read(pdf)).attachments).toSorted()).toEqual(
      [attachment, ...named].map(({ name }) => name).toSorted(),
    );
    const [, listed = ''] = /EmbeddedFiles <<\/Names \[(.*?)\]>>/.exec(pdf.toString('latin1')) ?? [];
    expect(listed.replaceAll(/ \d+ 0 R/g, '')).toMatch(
      /^\(B\\\(1\\\)\.csv\) \(B\\\\\.csv\) \(data \\\(1\\\)\.xml\) \(zeit\.csv\) <FEFF/,
    );
  });

  test('when the print is of an earlier release, then the result is an archive file all the same', async () => {
    const { metadata, attachments } = await read(withAttachment(chromiumPdf({ isDescribed: true })));

    expect([metadata.get('pdfaid:part'), Object.keys(attachments)]).toEqual(['3', ['data (1).xml']]);
  });

  test.each([
    ['has no author', () => chromiumPdf()],
    ['has a file already', () => withAttachment(archiveFile(chromiumPdf(), description))],
    ['is cut off', () => archiveFile(chromiumPdf(), description).subarray(0, -100)],
    ['is no PDF', () => Buffer.from('no PDF')],
  ])('when the PDF %s, then nothing is embedded', (_what, pdf) => {
    expect(() => withAttachment(pdf())).toThrow(UnknownForm);
  });
});

test('when colours are converted into the profile, then they stay those of sRGB', async () => {
  const side = 17;
  const steps = Buffer.from(
    Array.from({ length: side ** 3 }, (_none, index) =>
      [index % side, Math.floor(index / side) % side, Math.floor(index / side ** 2)].map((step) =>
        Math.min(255, step * 16),
      ),
    ).flat(),
  );
  const raw = { width: side, height: side ** 2, channels: 3 } as const;
  // A PNG with the profile is read as a program would read the page.
  const marked = await sharp(steps, { raw }).png().toBuffer();
  const withProfile = withColours(marked, srgbProfile());
  const { data } = await sharp(withProfile).toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });

  expect((await sharp(withProfile).metadata()).hasProfile).toBe(true);
  const differences = data.map((part, index) => Math.abs(part - (steps[index] ?? 0)));
  expect(Math.max(...differences)).toBeLessThanOrEqual(1);
});

/** Puts a colour profile behind the header of a PNG. */
function withColours(png: Buffer, profile: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from('iCCPown\0\0'), deflateSync(profile)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(named.length - 4);
  sum.writeUInt32BE(crc32(named));
  const behindHeader = 33;
  return Buffer.concat([png.subarray(0, behindHeader), length, named, sum, png.subarray(behindHeader)]);
}
