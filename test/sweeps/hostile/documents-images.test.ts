// Images made to break decoders: a document is printed without such an image and with a warning, and others keep theirs.

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { isSampled, sampled } from '../../support/form.ts';
import { anInvoice } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

const RED = '#ff0000';
/** Broken images, and whole ones beside them. */
const EACH = isSampled() ? 8 : 24;
let renderer: TestRenderer;
let host: Server;
let good: Buffer;
/** Responses by path: bytes of an image, or a function that responds itself. */
const served = new Map<string, Buffer | ((response: ServerResponse) => void)>();
let requests = 0;

beforeAll(async () => {
  good = await picture(300, 120).png().toBuffer();
  host = createServer((request, response) => {
    requests += 1;
    const what = served.get(request.url ?? '');
    if (typeof what === 'function') what(response);
    else response.writeHead(what ? 200 : 404, { 'Content-Type': 'image/png' }).end(what);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  renderer = await startRenderer({ allow: '127.0.0.1/32' });
});
afterAll(async () => {
  await renderer.close();
  host.closeAllConnections();
  host.close();
});

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: RED }, limitInputPixels: false });
let count = 0;
function serve(what: Buffer | ((response: ServerResponse) => void)): string {
  count += 1;
  served.set(`/${count}`, what);
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}/${count}`;
}
const asDataUri = (bytes: Buffer, type: string) => `data:${type};base64,${bytes.toString('base64')}`;

const html = '<html><img src=http://127.0.0.1/><script>document.body.textContent="executed"</script></html>';
const svg = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${inside}</svg>`;
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** A chunk of a PNG with its check sum. */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}

function crc32(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** A PNG whose header claims this size, with any data. */
function pngOf(width: number, height: number, data: Buffer, [bits, colours] = [8, 2]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([bits, colours], 8);
  return Buffer.concat([PNG, chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

/** A file for CVE-2023-4863 of libwebp: a lossless image whose code tables are longer than the buffer for them. */
function webpOf(payload: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(payload.length);
  const whole = Buffer.alloc(4);
  whole.writeUInt32LE(payload.length + 12);
  return Buffer.concat([Buffer.from('RIFF'), whole, Buffer.from('WEBPVP8L'), size, payload]);
}

const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const BROKEN: [string, () => Buffer | Promise<Buffer>][] = [
  ['nothing at all', () => Buffer.alloc(0)],
  ['one byte', () => Buffer.from([0x89])],
  ['HTML', () => bytesOf(html)],
  ['HTML behind the first bytes of a PNG', () => Buffer.concat([PNG, bytesOf(html)])],
  ['HTML behind the first bytes of a GIF', () => bytesOf(`GIF89a=1;/*${html}*/`)],
  ['HTML behind the first bytes of a JPEG', () => bytesOf(`\xff\xd8\xff\xe0${html}`)],
  ['HTML behind the first bytes of a WebP', () => bytesOf(`RIFF\xff\xff\xff\xffWEBP${html}`)],
  [
    'an SVG with a file as an entity',
    () => bytesOf(`<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('<text>&x;</text>')}`),
  ],
  [
    'an SVG of a billion laughs',
    () => bytesOf(`<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${svg('<text>&b;</text>')}`),
  ],
  ['an SVG compressed with gzip', () => Buffer.from('1f8b0800000000000003b329c849cdb3e3020000ffff', 'hex')],
  ['a PDF', () => bytesOf('%PDF-1.7\n1 0 obj\n%%EOF')],
  ['a TIFF', () => picture(9, 9).tiff().toBuffer()],
  ['an AVIF', () => bytesOf('\0\0\0\x1cftypavif\0\0\0\0avifmif1')],
  ['a BMP', () => bytesOf('BM\x3a\0\0\0\0\0\0\0\x36\0\0\0')],
  ['an icon', () => bytesOf('\0\0\x01\0\x01\0\x10\x10')],
  ['an ImageMagick script', () => bytesOf('push graphic-context\nfill "url(http://127.0.0.1/)"\npop graphic-context')],
  ['a PostScript', () => bytesOf('%!PS\n(/etc/passwd) (r) file')],
  ['a PNG without its end', async () => (await picture(300, 120).png().toBuffer()).subarray(0, 70)],
  ['a JPEG without its end', async () => (await picture(300, 120).jpeg().toBuffer()).subarray(0, 400)],
  ['a WebP without its end', async () => (await picture(300, 120).webp().toBuffer()).subarray(0, 60)],
  ['a GIF without its end', async () => (await picture(300, 120).gif().toBuffer()).subarray(0, 40)],
  [
    'a PNG with other bytes in its middle',
    async () =>
      Buffer.concat([(await noise()).subarray(0, 2_000), Buffer.alloc(2_000, 0xff), (await noise()).subarray(4_000)]),
  ],
  ['a PNG of size zero', () => pngOf(0, 0, deflateSync(Buffer.alloc(1)))],
  ['a PNG of the largest possible width', () => pngOf(0x7fffffff, 1, deflateSync(Buffer.alloc(1)))],
  ['a PNG of a size beyond the format', () => pngOf(0xffffffff, 0xffffffff, deflateSync(Buffer.alloc(1)))],
  ['a PNG with less data than it says', () => pngOf(2_000, 2_000, deflateSync(Buffer.alloc(100)))],
  ['a PNG with uncompressed data', () => pngOf(20, 20, Buffer.alloc(1_000, 7))],
  [
    'a WebP with tables that are too long',
    () => webpOf(Buffer.concat([Buffer.from([0x2f, 0, 0, 0, 0]), Buffer.alloc(4_000, 0x77)])),
  ],
  ['a WebP with tables cut off', () => webpOf(Buffer.from('2f00000010881e0880ff7fffff', 'hex'))],
  ['a WebP that says it is longer than it is', () => bytesOf('RIFF\xff\xff\xff\x7fWEBPVP8 \xff\xff\xff\x7f')],
  ['a GIF of size zero', () => bytesOf('GIF89a\0\0\0\0\0\0\0;')],
  // One bit for each pixel: 24 KB compressed, 600 MB decoded.
  [
    'a decompression bomb of 14,000 × 14,000 pixels',
    () => pngOf(14_000, 14_000, deflateSync(Buffer.alloc(14_000 * 1_751)), [1, 0]),
  ],
];

const noise = () =>
  sharp({
    create: { width: 90, height: 90, channels: 3, background: RED, noise: { type: 'gaussian', mean: 128, sigma: 60 } },
  })
    .png()
    .toBuffer();
const isFault = /^(not an image|too large|is (PDF|TIFF|BMP|ICO), send PNG, JPEG, WebP, GIF, AVIF or SVG)$/;

/** @returns the reasons, in the order of the fields. */
async function printBoth(source: string): Promise<{ reasons: string[]; hasImage: boolean }> {
  const { warnings, bytes } = await renderer.print(anInvoice({ logoUrl: source, bannerUrl: source }));
  const reasons = ['logoUrl', 'bannerUrl'].map((field) => warnings.find((text) => text.startsWith(`${field}: `)) ?? '');
  return { reasons: reasons.map((text) => text.split(': ')[1] ?? ''), hasImage: bytes.includes('/Subtype /Image') };
}

describe('a file that is not an image', () => {
  test.each(sampled(BROKEN))(
    'when it is %s, then neither a logo nor a banner is drawn, and each has a warning',
    async (_what, make) => {
      const bytes = await make();
      const fetched = await printBoth(serve(bytes));
      expect(fetched).toEqual({
        reasons: [expect.stringMatching(isFault), expect.stringMatching(isFault)],
        hasImage: false,
      });
      if (bytes.length === 0 || bytes.length > 1_000_000) return;
      const given = await printBoth(asDataUri(bytes, 'image/png'));
      expect(given).toEqual({
        reasons: [expect.stringMatching(isFault), expect.stringMatching(isFault)],
        hasImage: false,
      });
    },
  );

  test('when its declared type is SVG, then it is still not an image', async () => {
    const { reasons, hasImage } = await printBoth(asDataUri(bytesOf(html), 'image/svg+xml'));
    expect({ reasons, hasImage }).toEqual({ reasons: ['not an image', 'not an image'], hasImage: false });
  });

  test.each([
    ['a script', '<script>1</script>'],
    ['a script in a namespace', '<s:script xmlns:s="http://www.w3.org/2000/svg">1</s:script>'],
    ['an embedded document', '<foreignObject><iframe src="http://127.0.0.1/x"></iframe></foreignObject>'],
    ['a remote image', (at: string) => `<image href="${at}" width="9" height="9"/>`],
    ['a remote image in xlink:href', (at: string) => `<image xlink:href = '${at}' width="9" height="9"/>`],
    ['a remote drawing', (at: string) => `<use href="${at}#a"/>`],
    ['a remote fill without quotes', (at: string) => `<rect style="fill:url(${at}#a)" width="9" height="9"/>`],
    ['a remote style sheet', (at: string) => `<style>@import "${at}"; rect { mask: url('${at}') }</style>`],
    ['a file that is included', '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>'],
    ['a local file', '<image href="file:///etc/passwd" width="9" height="9"/>'],
  ])('when an SVG has %s, then the rest of it is drawn, and nothing is fetched', async (_what, harmful) => {
    const requested = requests;
    const inside = typeof harmful === 'string' ? harmful : harmful(serve(good));
    const drawing = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">${inside}<rect width="9" height="9" fill="#c81e3c"/></svg>`;
    const { reasons, hasImage } = await printBoth(asDataUri(bytesOf(drawing), 'image/svg+xml'));

    expect({ reasons, hasImage }).toEqual({ reasons: ['', ''], hasImage: true });
    expect(requests).toBe(requested);
  });
});

describe('an image that does not arrive', () => {
  const answers: [string, (response: ServerResponse) => void, string][] = [
    ['gets no response', () => undefined, 'unreachable'],
    [
      'stops in the middle',
      (response) => void response.writeHead(200, { 'Content-Length': '9000' }).write(good),
      'unreachable',
    ],
    ['is cut off', (response) => void response.write(good.subarray(0, 50), () => response.destroy()), 'unreachable'],
    ['arrives a byte at a time', (response) => drip(response), 'unreachable'],
    ['does not end', (response) => flood(response), 'too large'],
    ['is an error response with an image', (response) => void response.writeHead(500).end(good), 'unreachable'],
    [
      'has another content encoding than declared',
      (response) => void response.writeHead(200, { 'Content-Encoding': 'br' }).end(deflateSync(good)),
      'not an image',
    ],
    ['redirects for ever', (response) => void response.writeHead(302, { Location: `/${count}` }).end(), 'unreachable'],
  ];

  test.each(sampled(answers, 4))(
    'when it %s, then the document is printed without it',
    async (_what, answer, reason) => {
      expect(await printBoth(serve(answer))).toEqual({ reasons: [reason, reason], hasImage: false });
    },
  );
});

test('when an image has ten thousand frames, then its first one is drawn, or none', async () => {
  const frame = await picture(2, 2).gif().toBuffer();
  const head = frame.subarray(0, frame.length - 1);
  const one = Buffer.from('2c000000000200020000020284510000'.slice(0, 30), 'hex');
  const film = Buffer.concat([head, ...Array.from({ length: 10_000 }, () => one), Buffer.from(';')]);
  const { warnings } = await renderer.print(anInvoice({ logoUrl: serve(film) }));

  expect(warnings.filter((text) => text !== 'logoUrl: not an image')).toEqual([]);
});

test('when images break their decoder again and again, then other documents keep theirs', async () => {
  const bad = await Promise.all(BROKEN.slice(0, EACH).map(async ([, make]) => make()));
  const [broken, whole] = await Promise.all([
    Promise.all(bad.map((bytes) => printBoth(serve(bytes)))),
    Promise.all(
      Array.from({ length: EACH }, async (_none, index) => {
        const bytes = await picture(200 + index, 90)
          .png()
          .toBuffer();
        return renderer.read(anInvoice({ number: `WELL-${index}`, logoUrl: serve(bytes) }));
      }),
    ),
  ]);

  expect(broken.filter(({ hasImage }) => hasImage)).toEqual([]);
  expect(whole.flatMap(({ warnings }) => warnings)).toEqual([]);
  for (const [index, { text, bytes }] of whole.entries()) {
    expect(text).toContain(`WELL-${index}`);
    expect(bytes.includes('/Subtype /Image')).toBe(true);
  }
});

function drip(response: ServerResponse) {
  response.writeHead(200);
  let at = 0;
  const timer = setInterval(() => {
    at += 1;
    if (response.destroyed || at > good.length) clearInterval(timer);
    else response.write(good.subarray(at - 1, at));
  }, 100);
}

function flood(response: ServerResponse) {
  response.on('error', () => undefined);
  const more = () => {
    if (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) setImmediate(more);
  };
  response.on('drain', more);
  more();
}
