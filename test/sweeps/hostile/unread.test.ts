// Responses that are not read, of every operation: their bytes are counted, and an account that used its share gets no more.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { appError } from '#libs/errors.ts';
import type { ByteCapacity, WantedBytes } from '#libs/http/byte-capacity.ts';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { callable, senderOf } from './json-fields.ts';

const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');
const FULL = 'Too many responses are waiting to be read';

let gateway: TestGateway;
let isFull = false;
const counted: WantedBytes[] = [];

const requireRoom = () => {
  if (isFull) throw appError('too_many_unread_responses');
};
const responses: ByteCapacity = {
  requireRoom,
  reserve(wanted) {
    if (!wanted.isCertain) requireRoom();
    counted.push(wanted);
    return { shrink: () => undefined, release: () => undefined };
  },
};

beforeAll(async () => {
  gateway = await startGateway({
    responses,
    print: async () => ({ bytes: PDF, warnings: [], offSlotMs: 0, printMs: 0 }),
  });
});
afterAll(() => gateway.close());

test.each(sampled(callable).map((row) => [row.operation, row] as const))(
  'when the share of an account is used, then %s gets 429 and does nothing; otherwise its response is counted',
  async (_operation, row) => {
    const { sendTo } = await senderOf(gateway, row);
    isFull = true;
    const rejected = await sendTo('').finally(() => (isFull = false));
    expect([rejected.status, rejected.body.error]).toEqual([429, FULL]);

    counted.splice(0);
    const { status, body } = await sendTo('');
    expect([200, 201, 202]).toContain(status);

    const isFile = Buffer.isBuffer(body);
    const bytes = isFile ? PDF.length : Buffer.byteLength(JSON.stringify(body));
    expect(counted.map((one) => [one.accountId, one.bytes >= bytes])).toEqual([[gateway.account.id, true]]);
  },
);

test('when a body has many faults, then the error that names them all is counted', async () => {
  counted.splice(0);
  const line_items = Array.from({ length: 200 }, () => ({}));
  const { status, body } = await gateway.post('/api/v1/invoices', { line_items });

  expect(status).toBe(400);
  expect(counted).toEqual([
    { accountId: gateway.account.id, bytes: Buffer.byteLength(JSON.stringify(body)), isCertain: true },
  ]);
});
