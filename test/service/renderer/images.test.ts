// Logo and banner: allowed sources, how they are drawn, and warnings.
import { execFileSync } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { loadLogo } from '#libs/jobs/catalog.ts';
import { openReplies, type Replies } from '#libs/jobs/replies.ts';
import { newId } from '#libs/models/tenant.ts';
import { openLogos } from '../../../services/portal/client/load-logo.ts';
import { eventually } from '../../support/eventually.ts';
import { blackPng } from '../../support/renderer/black-png.ts';
import { anInvoice } from '../../support/renderer/documents.ts';
import { type PictureHost, startPictureHost } from '../../support/renderer/picture-host.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';
import { testLog } from '../../support/workspace.ts';

const RED = '#ff0000';
let png: Buffer;
let renderer: TestRenderer;
let host: PictureHost;

beforeAll(async () => {
  png = await picture().png().toBuffer();
  host = await startPictureHost();
  renderer = await startRenderer({ allow: '127.0.0.1/32' });
});
afterAll(async () => {
  await renderer.close();
  host.close();
});
beforeEach(() => {
  host.asked = [];
  host.answer = (_request, response) => response.end(png);
});

const picture = (width = 300, height = 120) => sharp({ create: { width, height, channels: 3, background: RED } });
const asDataUri = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`;
const withLogo = (logoUrl: string) => renderer.read(anInvoice({ logoUrl, showBanner: false }));
const warningsFor = async (logoUrl: string) => (await withLogo(logoUrl)).warnings;
const isRed = ([red, green, blue]: [number, number, number]) => red > 240 && green < 16 && blue < 16;

describe('an image that is available', () => {
  test('when the logo is a URL, then it is drawn beside the issuer, without a warning', async () => {
    const pdf = await withLogo(host.address());

    expect(pdf.warnings).toEqual([]);
    expect(isRed(await pdf.colourAt(1, 24, 22))).toBe(true);
  });

  test.each(['png', 'jpeg', 'webp', 'gif'] as const)(
    'when the logo is a data URI of a %s, then it is drawn',
    async (format) => {
      const pdf = await withLogo(asDataUri(await picture().toFormat(format).toBuffer(), `image/${format}`));

      expect(pdf.warnings).toEqual([]);
      expect(isRed(await pdf.colourAt(1, 24, 22))).toBe(true);
    },
  );

  test('when the type of a data URI has parameters and its scheme is in capitals, then it is drawn all the same', async () => {
    const uri = asDataUri(await picture().png().toBuffer(), 'image/png;charset=utf-8').replace('data:', 'DATA:');

    const pdf = await withLogo(uri);

    expect(pdf.warnings).toEqual([]);
    expect(isRed(await pdf.colourAt(1, 24, 22))).toBe(true);
  });

  test('when the banner is a URL, then it fills the top of the page; when showBanner is false, it is not fetched', async () => {
    const shown = await renderer.read(anInvoice({ bannerUrl: host.address() }));
    expect(isRed(await shown.colourAt(1, 2, 2))).toBe(true);
    expect(isRed(await shown.colourAt(1, 208, 14))).toBe(true);

    host.asked = [];
    const hidden = await renderer.read(anInvoice({ bannerUrl: host.address(), showBanner: false }));
    expect(host.asked).toEqual([]);
    expect(await hidden.colourAt(1, 2, 2)).toEqual([255, 255, 255]);
  });

  test('when a light banner lies under the heading, then it stays as it is and the text on it is dark', async () => {
    const white = await sharp({ create: { width: 400, height: 200, channels: 3, background: '#fff' } })
      .jpeg()
      .toBuffer();
    const pdf = await renderer.read(anInvoice({ layoutType: 'overlay', bannerUrl: asDataUri(white, 'image/jpeg') }));

    const [level] = await pdf.colourAt(1, 205, 5);
    expect(level).toBeGreaterThan(250);
    expect(await pdf.isBlank(1, { x: 17, y: 10, width: 100, height: 48 })).toBe(false);
  });

  test('when a banner of light and dark parts lies under the heading, then it is dimmed until white text can be read', async () => {
    const half = { width: 200, height: 200, channels: 3, background: '#fff' } as const;
    const mixed = await sharp({ create: { ...half, width: 400, background: '#000' } })
      .composite([{ input: { create: half }, left: 200, top: 0 }])
      .jpeg()
      .toBuffer();
    const pdf = await renderer.read(anInvoice({ layoutType: 'overlay', bannerUrl: asDataUri(mixed, 'image/jpeg') }));

    const [level] = await pdf.colourAt(1, 205, 5);
    // 4.5 : 1 against white.
    expect(level).toBeLessThanOrEqual(118);
    expect(level).toBeGreaterThan(100);
  });

  test('when it redirects twice, then both redirects are followed', async () => {
    host.answer = (request, response) => {
      if (request.url?.endsWith('/there')) response.end(png);
      else if (request.url?.endsWith('/on')) response.writeHead(301, { Location: '/there' }).end();
      else response.writeHead(302, { Location: '/on' }).end();
    };

    expect(await warningsFor(host.address())).toEqual([]);
  });

  test('when it is animated, then its first frame is drawn', async () => {
    const frames = Array.from({ length: 30 }, (_none, index) =>
      Buffer.alloc(20 * 20 * 3, index === 0 ? Buffer.from([255, 0, 0]) : Buffer.from([0, 0, 255])),
    );
    const gif = await sharp(Buffer.concat(frames), { raw: { width: 20, height: 600, channels: 3, pageHeight: 20 } })
      .gif()
      .toBuffer();
    const pdf = await withLogo(asDataUri(gif, 'image/gif'));

    expect(pdf.warnings).toEqual([]);
    expect(isRed(await pdf.colourAt(1, 20, 20))).toBe(true);
  });

  test('when it is needed again within a minute, then it is cached, for this account only', async () => {
    const logoUrl = host.address();
    await renderer.print(anInvoice({ logoUrl }), { accountId: 'one' });
    await renderer.print(anInvoice({ logoUrl }), { accountId: 'one' });
    expect(host.asked).toHaveLength(1);

    await renderer.print(anInvoice({ logoUrl }), { accountId: 'two' });
    expect(host.asked).toHaveLength(2);
  });
});

describe('an image that is unavailable', () => {
  test('when it is missing, then the document is printed with the name instead, and a warning', async () => {
    host.answer = (_request, response) => response.writeHead(404).end();
    const pdf = await withLogo(host.address());

    expect(pdf.warnings).toEqual(['logoUrl: unreachable']);
    expect(pdf.text).toMatch(/Grace Hopper.*Invoice/);
  });

  test('when the banner is unavailable, then the built-in one is drawn in its place', async () => {
    const pdf = await renderer.read(anInvoice({ bannerUrl: 'http://10.0.0.1/banner.png', brandColor: '#0a7' }));

    expect(pdf.warnings).toEqual(['bannerUrl: refused address']);
    expect(await pdf.colourAt(1, 2, 2)).toEqual([0, 170, 119]);
  });

  const html = '<html><script>alert(1)</script></html>';
  test.each([
    ['HTML', () => Buffer.from(html)],
    ['nothing', () => Buffer.alloc(0)],
    ['the first bytes of a PNG', () => png.subarray(0, 60)],
    ['a PNG that is HTML after its first bytes', () => Buffer.concat([png.subarray(0, 8), Buffer.from(html)])],
  ])('when the response is %s, then the warning says that it is not an image', async (_what, bytes) => {
    host.answer = (_request, response) => response.end(bytes());

    expect(await warningsFor(host.address())).toEqual(['logoUrl: not an image']);
    expect(await warningsFor(asDataUri(bytes()).replace(/,$/, ',AA=='))).toEqual(['logoUrl: not an image']);
  });

  test.each([
    ['HEIC', () => Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1')],
    ['BMP', () => Buffer.from('BM6\0\0\0')],
    ['TIFF', () => sharp(png).tiff().toBuffer()],
    ['PDF', () => Buffer.from('%PDF-1.7')],
  ])('when the image is %s, then the warning says what it is and what to send', async (kind, make) => {
    expect(await warningsFor(asDataUri(await make()))).toEqual([
      `logoUrl: is ${kind}, send PNG, JPEG, WebP, GIF, AVIF or SVG`,
    ]);
  });

  test.each([
    ['AVIF', () => sharp(png).avif().toBuffer()],
    [
      'SVG',
      () =>
        Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 20"><rect width="60" height="20"/></svg>'),
    ],
    [
      'SVG with the prologue of drawing programs',
      () =>
        Buffer.from(
          '<?xml version="1.0"?>\n<!-- Made -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/a.dtd">\n<svg xmlns="http://www.w3.org/2000/svg" width="6cm" height="2cm"><circle r="9"/></svg>',
        ),
    ],
  ])('when the image is %s, then it is drawn', async (_kind, make) => {
    const { warnings, bytes } = await renderer.print(anInvoice({ logoUrl: asDataUri(await make()) }));

    expect(warnings).toEqual([]);
    expect(bytes.includes('/Subtype /Image')).toBe(true);
  });

  test('when it would decode to 14,000 × 14,000 pixels, then it is rejected by its header', async () => {
    const bomb = blackPng(14_000);
    host.answer = (_request, response) => response.end(bomb);

    expect(await warningsFor(host.address())).toEqual(['logoUrl: too large']);
  });

  test('when it does not end, then reading stops at five megabytes', async () => {
    host.answer = (_request, response) => {
      const more = () => {
        if (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) setImmediate(more);
      };
      response.on('drain', more).on('error', () => undefined);
      more();
    };

    expect(await warningsFor(host.address())).toEqual(['logoUrl: too large']);
  });

  test('when no response comes, then the document is printed without it', async () => {
    host.answer = () => undefined;

    expect(await warningsFor(host.address())).toEqual(['logoUrl: unreachable']);
  });

  test('when it redirects three times, then the last redirect is not followed', async () => {
    host.answer = (request, response) => response.writeHead(302, { Location: `${request.url}x` }).end();

    expect(await warningsFor(host.address())).toEqual(['logoUrl: unreachable']);
    expect(host.asked).toHaveLength(3);
  });

  test.each([
    'http://127.0.0.2:1/',
    '//127.0.0.2/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
  ])('when it redirects to %s, then the redirect is not followed', async (location) => {
    host.answer = (_request, response) => response.writeHead(302, { Location: location }).end();

    expect((await warningsFor(host.address()))[0]).toMatch(/^logoUrl: (refused address|unreachable)$/);
  });

  test.each([
    'http://10.0.0.5/',
    'http://192.168.0.1/',
    'http://172.16.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
    'http://127.0.0.2/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:a00:1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/latest/',
    'http://localhost:6379/',
    'http://LOCALHOST./',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://kubernetes.default.svc/',
    'http://redis:6379/',
    'http://example.com@10.0.0.1/',
    'http://①⓪.⓪.⓪.①/',
    'http://8.8.8.8:22/',
  ])('when the address is %s, then it is not called and the document is printed', async (logoUrl) => {
    expect((await warningsFor(logoUrl))[0]).toMatch(/^logoUrl: (refused address|unreachable)$/);
  });
});

test('when a decoder crashes on one image, then the next image is decoded', async () => {
  const [victim] = decodersOf(process.pid);
  expect(victim).toBeDefined();
  process.kill(victim as number, 'SIGKILL');

  expect(await warningsFor(asDataUri(await picture(301, 121).png().toBuffer()))).toEqual([]);
});

function decodersOf(parent: number): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args=', '-ww'], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const [pid, parentPid] = line.trim().split(/\s+/);
    return Number(parentPid) === parent && line.includes('decode-image.ts') ? [Number(pid)] : [];
  });
}

describe('a logo on a page', () => {
  let replies: Replies;
  let load: ReturnType<typeof openLogos>;
  beforeAll(() => {
    const { queues, workspace } = renderer;
    const { redisUrl, redisPrefix: prefix } = workspace;
    replies = openReplies({ redisUrl, prefix, redis: queues.redis, log: testLog });
    load = openLogos({ queues, replies, log: testLog });
  });
  afterAll(() => replies.close());
  const loaded = (url: string) => load({ accountId: newId(), url });
  const answered = (bytes: Buffer) => {
    host.answer = (_request, response) => response.end(bytes);
    return loaded(host.address());
  };

  test('when it is the worst to compress, then it is a small PNG of twice the size that the page shows', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 90 } as const;
    const large = sharp({ create: { width: 1_350, height: 400, channels: 3, background: RED, noise } });
    const logo = await answered(await large.png().toBuffer());

    expect(await sharp(logo).metadata()).toMatchObject({ format: 'png', width: 448, height: 144 });
    expect(logo?.length).toBeLessThan(70_000);
  });

  test('when it is small, then it has two pixels for each of its own, within a margin', async () => {
    const tiny = await picture(20, 10).jpeg().toBuffer();
    const { data, info } = await sharp(await answered(tiny))
      .raw()
      .toBuffer({ resolveWithObject: true });

    expect(info).toMatchObject({ width: 2 * (20 + 8), height: 2 * (10 + 8), channels: 4 });
    const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)];
    // Its corner is round, its margin is white.
    expect([at(0, 0)[3], at(28, 3)]).toEqual([0, [255, 255, 255, 255]]);
    expect(isRed(at(28, 18).slice(0, 3) as [number, number, number])).toBe(true);
  });

  test('when it is an SVG, then it is drawn as large as its box', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10"/></svg>';
    const logo = await answered(Buffer.from(svg));
    expect(await sharp(logo).metadata()).toMatchObject({ format: 'png', width: 272, height: 144 });
  });

  test('when it is white, then the page shows no logo on its white ground', async () => {
    const ground = { r: 255, g: 255, b: 255, alpha: 0 };
    const white = { create: { width: 60, height: 60, channels: 4 as const, background: { ...ground, alpha: 1 } } };
    const sign = sharp({ create: { width: 100, height: 100, channels: 4, background: ground } });
    expect(
      await answered(
        await sign
          .composite([{ input: white }])
          .png()
          .toBuffer(),
      ),
    ).toBeUndefined();
  });

  test('when it is asked for again within a minute, then its host is not, whether there is a logo or not', async () => {
    const accountId = newId();
    const urls = [host.address(), host.address()];
    host.answer = ({ url }, response) =>
      urls[0]?.endsWith(String(url)) ? response.end(png) : response.writeHead(200).end('no image');
    const fourTimes = (url: string) => Promise.all(Array.from({ length: 4 }, () => load({ accountId, url })));
    const [there, none] = [await fourTimes(String(urls[0])), await fourTimes(String(urls[1]))];

    expect([there, none].map((each) => each.map(Boolean))).toEqual([Array(4).fill(true), Array(4).fill(false)]);
    expect(await load({ accountId, url: String(urls[1]) })).toBeUndefined();
    expect(host.asked).toHaveLength(2);
  });

  test('when its address is a private one, then no page gets it', async () => {
    expect(await loaded('http://10.0.0.1/logo.png')).toBeUndefined();
    expect(await loaded(host.address().replace('127.0.0.1', '127.0.0.2'))).toBeUndefined();
    expect(host.asked).toEqual([]);
  });

  test('when hosts of an account are silent, then it has two logos in flight, and other accounts get theirs', async () => {
    const accountId = newId();
    const silent: ServerResponse[] = [];
    const asked = Promise.withResolvers<void>();
    host.answer = (_request, response) => silent.push(response) === 2 && asked.resolve();
    const loads = [1, 2].map(() => load({ accountId, url: host.address() }));
    await asked.promise;

    const third = host.address();
    expect(await load({ accountId, url: third })).toBeUndefined();
    expect(await answered(png)).toBeDefined();
    expect(host.asked).toHaveLength(3);
    // It is asked for once there is room again.
    for (const response of silent) response.destroy();
    expect(await Promise.all(loads)).toEqual([undefined, undefined]);
    expect(await load({ accountId, url: third })).toBeDefined();
  });

  test('when no renderer takes it before its deadline, then there is none, and no job stays', async () => {
    const { queues } = renderer;
    await queues.raw(loadLogo).pause();
    const soon = openLogos({ queues, replies, log: testLog, deadlineMs: 200 });
    const logo = await soon({ accountId: newId(), url: host.address() });
    const jobs = await eventually(async () => {
      const { ready, active } = await queues.counts(loadLogo);
      return ready + active === 0;
    });
    await queues.raw(loadLogo).resume();

    expect([logo, jobs, host.asked]).toEqual([undefined, true, []]);
  });
});
