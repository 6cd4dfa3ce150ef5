// The image decoder under overload: fair shares, and images that no caller waits for any more.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { openOutbound } from '#libs/outbound/outbound.ts';
import type { Logger } from '#libs/service/logger.ts';
import { findIsolation } from '../../../services/renderer/browser/isolation.ts';
import { openImages } from '../../../services/renderer/images/fetch-image.ts';
import { type ImageDecoder, openImageDecoder } from '../../../services/renderer/images/image-decoder.ts';
import { testLog } from '../../support/workspace.ts';

let decoder: ImageDecoder;
let small: Buffer;
/** Sixteen megapixels of noise: about a second. */
let large: Buffer;
beforeAll(async () => {
  decoder = await openImageDecoder(await findIsolation(process.env['TEST_CHROMIUM_PATH'] ?? '', testLog));
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const image = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#888', noise } });
  small = await image(60, 20).png().toBuffer();
  large = await image(4_000, 3_900).jpeg({ quality: 30 }).toBuffer();
});
afterAll(() => decoder.close());

const wanted = () => new AbortController().signal;
const aLogo = (source: string, log: Logger = testLog) =>
  ({ source, use: 'logo', accountId: 'account', log, requestId: 'request' }) as const;
const isDrawn = expect.objectContaining({ dataUri: expect.stringMatching(/^data:image/) });

test('when one account has many large pictures, then the picture of another one is decoded after at most three of them', async () => {
  const ended: string[] = [];
  const decode = async (accountId: string, bytes: Buffer) => {
    const result = await decoder.decode(bytes, 'logo', { accountId, signal: wanted() });
    ended.push(accountId);
    return result;
  };
  const many = Array.from({ length: 8 }, () => decode('many', large));

  expect(await decode('one', small)).toEqual(isDrawn);

  expect(ended.filter((accountId) => accountId === 'many').length).toBeLessThanOrEqual(3);
  expect(await Promise.all(many)).toEqual(Array(8).fill(isDrawn));
});

test('when a logo has a transparent background, then its colours are returned', async () => {
  const decode = (bytes: Buffer) => decoder.decode(bytes, 'logo', { accountId: 'one', signal: wanted() });
  const onTransparent = (background: string) =>
    sharp({ create: { width: 90, height: 30, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
      .composite([{ input: { create: { width: 40, height: 20, channels: 4, background } }, top: 5, left: 5 }])
      .png()
      .toBuffer();

  expect(await decode(await onTransparent('#ffffff'))).toMatchObject({
    paint: [{ colour: [255, 255, 255], share: 1 }],
  });
  expect(await decode(await onTransparent('#000000'))).toMatchObject({ paint: [{ colour: [0, 0, 0], share: 1 }] });
  // A picture with a background of its own is visible everywhere.
  expect(await decode(small)).not.toHaveProperty('paint');
});

test('when no caller waits for a picture any more, then it is not decoded, and the next one is', async () => {
  const caller = new AbortController();
  const reason = new Error('gone');
  const dropped = Array.from({ length: 20 }, () =>
    decoder.decode(large, 'logo', { accountId: 'one', signal: caller.signal }).catch((error: unknown) => error),
  );
  const last = decoder.decode(small, 'logo', { accountId: 'one', signal: wanted() });
  caller.abort(reason);

  expect((await Promise.all(dropped)).filter((result) => result === reason).length).toBeGreaterThanOrEqual(18);
  expect(await last).toEqual(isDrawn);
  await expect(decoder.decode(small, 'logo', { accountId: 'one', signal: caller.signal })).rejects.toBe(reason);
});

test('when a picture is not decoded in time, then the document is printed without it, and the next one tries again', async () => {
  let hasTime = false;
  const busy: ImageDecoder = {
    decode: (...given) => (hasTime ? decoder.decode(...given) : new Promise(() => undefined)),
    close: () => undefined,
  };
  const outbound = openOutbound({ allow: '' });
  const images = openImages({ outbound, decoder: busy });
  const source = `data:image/png;base64,${small.toString('base64')}`;

  expect(await images.get(aLogo(source), wanted())).toEqual({ problem: 'took too long' });
  hasTime = true;
  expect(await images.get(aLogo(source), wanted())).toEqual(isDrawn);
  outbound.close();
});

test('when decoding fails by a fault of ours, then the document is printed without the picture, and the log names the request', async () => {
  const fault = new TypeError('a fault');
  const logged: unknown[] = [];
  const log = { error: (fields: unknown) => logged.push(fields) } as unknown as Logger;
  const outbound = openOutbound({ allow: '' });
  const images = openImages({ outbound, decoder: { decode: () => Promise.reject(fault), close: () => undefined } });

  expect(await images.get(aLogo('data:image/png;base64,AA==', log), wanted())).toEqual({ problem: 'unreachable' });
  expect(await images.get(aLogo('http://127.0.0.1/', log), wanted())).toEqual({ problem: 'refused address' });
  expect(await images.get(aLogo('http://absent.invalid/', log), wanted())).toEqual({ problem: 'unreachable' });
  outbound.close();

  expect(logged).toEqual([{ err: fault, requestId: 'request', use: 'logo' }]);
});
