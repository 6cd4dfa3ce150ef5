// Slow images: they delay their own documents and no others.
import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { renderDocument } from '#libs/jobs/catalog.ts';
import { announceCancel } from '#libs/jobs/replies.ts';
import { eventually } from '../../support/eventually.ts';
import { anInvoice } from '../../support/renderer/documents.ts';
import { type PictureHost, startPictureHost } from '../../support/renderer/picture-host.ts';
import { type SpawnedRenderer, spawnRenderer } from '../../support/renderer/renderer.ts';

let png: Buffer;
let renderer: SpawnedRenderer;
let host: PictureHost;

beforeAll(async () => {
  png = await sharp({ create: { width: 300, height: 120, channels: 3, background: '#f00' } })
    .png()
    .toBuffer();
  host = await startPictureHost();
  renderer = await spawnRenderer({ OUTBOUND_ALLOW: '127.0.0.1/32', RENDER_CONCURRENCY: '1' });
});
afterAll(async () => {
  await renderer.close();
  host.close();
});
beforeEach(() => {
  host.asked = [];
});

const silence: RequestListener = () => undefined;
const withLogo = (logoUrl: string) => anInvoice({ logoUrl, showBanner: false });

describe('while an image host does not respond', () => {
  test('when documents wait for it, then other documents are printed before them', async () => {
    host.answer = silence;
    const ended: string[] = [];
    const print = async (name: string, document = anInvoice()) => {
      const { warnings } = await renderer.print(document);
      ended.push(name);
      return warnings;
    };
    const waiting = Array.from({ length: 4 }, () => print('waiting', withLogo(host.address())));
    await eventually(() => host.asked.length === 4);

    await print('plain');

    expect(ended).toEqual(['plain']);
    expect(await Promise.all(waiting)).toEqual(Array(4).fill(['logoUrl: unreachable']));
  });

  test('when its image is needed again, then the host is not called again, for this account only', async () => {
    host.answer = silence;
    const document = withLogo(host.address());
    await renderer.print(document, { accountId: 'one' });

    expect((await renderer.print(document, { accountId: 'one' })).warnings).toEqual(['logoUrl: unreachable']);
    expect(host.asked).toHaveLength(1);

    await renderer.print(document, { accountId: 'two' });
    expect(host.asked).toHaveLength(2);
  });
});

test('when a host switches to another protocol, then the document is printed at once without its picture', async () => {
  host.answer = ({ socket }) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');

  const { warnings } = await renderer.print(withLogo(host.address()), { deadlineMs: 4_000 });

  expect(warnings).toEqual(['logoUrl: unreachable']);
});

test('when a response was not an image, then the next document requests it again', async () => {
  host.answer = (_request, response) => response.end('soon');
  const document = withLogo(host.address());
  expect((await renderer.print(document)).warnings).toEqual(['logoUrl: not an image']);

  host.answer = (_request, response) => response.end(png);
  expect((await renderer.print(document)).warnings).toEqual([]);
});

test('when several documents want one picture at the same time, then it is fetched once', async () => {
  let send = () => undefined as unknown;
  host.answer = (_request, response) => {
    send = () => response.end(png);
  };
  const document = withLogo(host.address());
  const printing = Array.from({ length: 5 }, () => renderer.print(document));
  await eventually(async () => (await inFlight()) === 5);
  send();

  expect((await Promise.all(printing)).flatMap(({ warnings }) => warnings)).toEqual([]);
  expect(host.asked).toHaveLength(1);
});

test('when the caller that started a fetch disconnects, then the fetch ends, and another caller that waits for it starts a new one', async () => {
  let hasEnded = false;
  host.answer = (request, _response) => request.once('close', () => (hasEnded = true));
  const document = withLogo(host.address());
  const id = randomUUID();
  const caller = new AbortController();
  const first = renderer.print(document, { id, signal: caller.signal }).catch((error: unknown) => error);
  await eventually(() => host.asked.length === 1);
  const second = renderer.print(document);
  await eventually(async () => (await inFlight()) === 2);

  host.answer = (_request, response) => response.end(png);
  caller.abort(new Error('gone'));
  await announceCancel(renderer.queues.redis, renderer.workspace.redisPrefix, id);

  expect((await second).warnings).toEqual([]);
  expect(host.asked).toHaveLength(2);
  await eventually(() => hasEnded);
  await first;
});

const inFlight = async () => (await renderer.queues.counts(renderDocument)).active;
