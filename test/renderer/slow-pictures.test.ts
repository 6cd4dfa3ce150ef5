// Pictures that are slow to come: they cost their own documents time, and nobody else.
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { renderDocument } from '#libs/jobs/catalog.ts';
import { announceCancel } from '#libs/jobs/replies.ts';
import { eventually } from '../support/eventually.ts';
import { anInvoice } from './documents.ts';
import { startRenderer, type TestRenderer } from './renderer.ts';

let png: Buffer;
let renderer: TestRenderer;
let host: Server;
let answer: RequestListener;
let asked: string[] = [];

beforeAll(async () => {
  png = await sharp({ create: { width: 300, height: 120, channels: 3, background: '#f00' } })
    .png()
    .toBuffer();
  host = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  renderer = await startRenderer({ OUTBOUND_ALLOW: '127.0.0.1/32', RENDER_CONCURRENCY: '1' });
});
afterAll(async () => {
  await renderer.close();
  host.close();
  host.closeAllConnections();
});
beforeEach(() => {
  asked = [];
});

const silence: RequestListener = () => undefined;
let path = 0;
/** A new address each time: what is remembered of another is that test's concern. */
const address = () => `http://127.0.0.1:${(host.address() as AddressInfo).port}/${++path}`;
const withLogo = (logoUrl: string) => anInvoice({ logoUrl, showBanner: false });

describe('while a host of pictures is silent', () => {
  test('when documents wait for it, then those of others are printed before them', async () => {
    answer = silence;
    const ended: string[] = [];
    const print = async (name: string, document = anInvoice()) => {
      const { warnings } = await renderer.print(document);
      ended.push(name);
      return warnings;
    };
    const waiting = Array.from({ length: 4 }, () => print('waiting', withLogo(address())));
    await eventually(() => asked.length === 4);

    await print('plain');

    expect(ended).toEqual(['plain']);
    expect(await Promise.all(waiting)).toEqual(Array(4).fill(['logoUrl: unreachable']));
  });

  test('when its picture is wanted again, then it is not asked again, for this account alone', async () => {
    answer = silence;
    const document = withLogo(address());
    await renderer.print(document, { accountId: 'one' });

    expect((await renderer.print(document, { accountId: 'one' })).warnings).toEqual(['logoUrl: unreachable']);
    expect(asked).toHaveLength(1);

    await renderer.print(document, { accountId: 'two' });
    expect(asked).toHaveLength(2);
  });
});

test('when a picture was no picture, then it is asked for again', async () => {
  answer = (_request, response) => response.end('soon');
  const document = withLogo(address());
  expect((await renderer.print(document)).warnings).toEqual(['logoUrl: not an image']);

  answer = (_request, response) => response.end(png);
  expect((await renderer.print(document)).warnings).toEqual([]);
});

test('when several documents want one picture at the same time, then it is fetched once', async () => {
  let send = () => undefined as unknown;
  answer = (_request, response) => {
    send = () => response.end(png);
  };
  const document = withLogo(address());
  const printing = Array.from({ length: 5 }, () => renderer.print(document));
  await eventually(async () => (await inHand()) === 5);
  send();

  expect((await Promise.all(printing)).flatMap(({ warnings }) => warnings)).toEqual([]);
  expect(asked).toHaveLength(1);
});

test('when who began to fetch it goes, then the fetch ends, and who wants it, too, fetches it anew', async () => {
  let hasEnded = false;
  answer = (request, _response) => request.once('close', () => (hasEnded = true));
  const document = withLogo(address());
  const id = randomUUID();
  const caller = new AbortController();
  const first = renderer.print(document, { id, signal: caller.signal }).catch((error: unknown) => error);
  await eventually(() => asked.length === 1);
  const second = renderer.print(document);
  await eventually(async () => (await inHand()) === 2);

  answer = (_request, response) => response.end(png);
  caller.abort(new Error('gone'));
  await announceCancel(renderer.queues.redis, renderer.workspace.redisPrefix, id);

  expect((await second).warnings).toEqual([]);
  expect(asked).toHaveLength(2);
  await eventually(() => hasEnded);
  await first;
});

const inHand = async () => (await renderer.queues.counts(renderDocument)).active;
