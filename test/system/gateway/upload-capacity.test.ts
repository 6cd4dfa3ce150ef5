// Large bodies: how many may be uploaded at the same time, and how long their bytes count.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bytesToCome, openByteCapacity } from '#libs/http/byte-capacity.ts';
import { renderDocument } from '#libs/jobs/catalog.ts';
import { PDF_BODY_BYTES_MAX } from '#libs/jobs/pdf-document.ts';
import { eventually } from '../../support/eventually.ts';
import { callerOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { pdfOf } from '../../support/pdf-body.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { spawnGateway } from '../../support/spawn-gateway.ts';
import { openWorkspace } from '../../support/workspace.ts';

const PATH = '/api/tools/generate-pdf';
const MIB = 1024 * 1024;

describe('upload capacity', () => {
  const limits = { perAccount: 2 * MIB, all: 3 * MIB };
  const large = (accountId: string) => ({ accountId, bytes: MIB });

  test('when an account has used its share, then 429, and others are admitted until the capacity is used up', () => {
    const capacity = openByteCapacity(limits);
    capacity.reserve(large('one'));
    const permit = capacity.reserve(large('one'));

    expect(() => capacity.reserve(large('one'))).toThrow(expect.objectContaining({ status: 429 }));
    capacity.reserve(large('other'));
    expect(() => capacity.reserve(large('third'))).toThrow(
      expect.objectContaining({ status: 503, headers: { 'Retry-After': expect.any(String) } }),
    );

    permit.release();
    capacity.reserve(large('third'));
  });

  test('when a permit is released twice, then its bytes are free once', () => {
    const capacity = openByteCapacity(limits);
    const permit = capacity.reserve(large('one'));
    capacity.reserve(large('one'));
    permit.release();
    permit.release();

    capacity.reserve(large('one'));
    expect(() => capacity.reserve(large('one'))).toThrow(expect.objectContaining({ status: 429 }));
  });

  test('when a body turns out to be smaller than reserved, then the rest of its bytes is free, and all of them at the end', () => {
    const capacity = openByteCapacity({ perAccount: MIB, all: MIB });
    const unknown = capacity.reserve(large('one'));
    expect(() => capacity.reserve(large('one'))).toThrow(expect.objectContaining({ status: 503 }));
    unknown.shrink(MIB / 2);
    const half = capacity.reserve({ accountId: 'one', bytes: MIB / 2 });
    expect(() => capacity.reserve({ accountId: 'one', bytes: 64 * 1024 })).toThrow();

    half.shrink(2_000);
    unknown.shrink(MIB); // It never grows.
    const rest = capacity.reserve({ accountId: 'one', bytes: MIB / 2 });
    for (const permit of [unknown, half, rest]) permit.release();
    capacity.reserve(large('one'));
  });

  test('when bodies are small, then they are not counted', () => {
    const capacity = openByteCapacity({ perAccount: 0, all: 0 });

    for (let count = 0; count < 100; count += 1) capacity.reserve({ accountId: 'one', bytes: 64 * 1024 - 1 });
    expect(() => capacity.reserve({ accountId: 'one', bytes: 64 * 1024 })).toThrow();
  });

  test.each<[string, Record<string, string>, number]>([
    ['declares its length', { 'content-length': '70000' }, 70_000],
    ['does not declare its length', { 'transfer-encoding': 'chunked' }, 100_000],
    ['declares a length that is too large', { 'content-length': '100001' }, 0],
    ['is absent', {}, 0],
  ])('when a body %s, then the number of bytes that may arrive is known', (_what, headers, bytes) => {
    expect(bytesToCome({ headers }, 100_000)).toBe(bytes);
  });
});

describe('a gateway', () => {
  /** The largest body that is accepted. It is no valid document, so the response to all of it is 400. */
  const body = `{"notes":"${'x'.repeat(PDF_BODY_BYTES_MAX - '{"notes":""}'.length)}"}`;
  /** How many of them are an account's share. */
  const SHARE = 10;
  let gateway: TestGateway;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await gateway.close();
  });

  /** Sends all but the last byte. */
  function sendMost() {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const caller = { socket, heard: '' };
    const head = [
      `POST ${PATH} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${gateway.account.key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    socket.on('error', () => undefined); // A rejected caller is disconnected while it sends.
    socket.on('data', (data) => {
      caller.heard += data.toString('latin1');
    });
    socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`);
    sockets.push(socket);
    return caller;
  }

  test('when an account leaves many large bodies unfinished, then the next gets 429 until they have ended', async () => {
    const callers = Array.from({ length: SHARE + 2 }, sendMost);
    const rejected = () => callers.filter(({ heard }) => heard !== '');
    await eventually(async () => rejected().length === 2);

    for (const { heard } of rejected()) {
      expect(heard).toMatch(/^HTTP\/1\.1 429 /);
      expect(heard).toMatch(/\r\nRetry-After: \d+\r\n/i);
    }
    const { key } = await gateway.workspace.account();
    expect((await callerOf(gateway.url, key)('POST', PATH, { raw: body })).status).toBe(400);
    expect((await gateway.post(PATH, {})).status).toBe(400);

    const unfinished = callers.filter(({ heard }) => heard === '');
    expect(unfinished).toHaveLength(SHARE);
    for (const { socket } of unfinished.slice(5)) socket.write(body.slice(-1));
    for (const { socket } of unfinished.slice(0, 5)) socket.destroy();
    await eventually(async () => unfinished.slice(5).every(({ heard }) => heard.startsWith('HTTP/1.1 400 ')));
    const after = Array.from({ length: SHARE }, sendMost);
    for (const { socket } of after) socket.write(body.slice(-1));
    await eventually(async () => after.every(({ heard }) => heard.startsWith('HTTP/1.1 400 ')));
  });
});

test('when a caller sends documents without Content-Length, then as many of them may wait as with it', async () => {
  const workspace = await openWorkspace();
  const { key } = await workspace.account();
  const gateway = await spawnGateway(workspace, key);
  const queues = await openReadyQueues(workspace);
  const ended = new AbortController();
  try {
    const responses = Array.from({ length: 20 }, () =>
      fetch(gateway.url + PATH, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: new Blob([JSON.stringify(pdfOf('Invoice'))]).stream(), // In chunks.
        ...{ duplex: 'half' }, // Not in the types.
        signal: ended.signal,
      }).catch(() => undefined),
    );

    // No renderer runs here.
    await eventually(async () => (await queues.counts(renderDocument)).ready === responses.length);
    ended.abort();
    expect(await Promise.all(responses)).toEqual(responses.map(() => undefined));
  } finally {
    ended.abort();
    await queues.close();
    await gateway.stop();
    await workspace.close();
  }
});
