// Equal requests with one Idempotency-Key: values are compared, not their notation.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Idempotency } from '#libs/models/idempotency-record.ts';
import { runs } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { createClient } from '../../support/records.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const PATH = '/api/v1/clients';
const send = (key: string, raw: string, path = PATH) =>
  gateway.call('POST', path, { raw, headers: { 'Idempotency-Key': key } });

/** The same value with its names in another order, and whitespace wherever JSON allows it. */
function rewritten(value: unknown, shuffle: (names: string[]) => string[], blank: () => string): string {
  if (Array.isArray(value))
    return `${blank()}[${value.map((item) => rewritten(item, shuffle, blank)).join(',')}]${blank()}`;
  if (typeof value !== 'object' || value === null) return blank() + JSON.stringify(value) + blank();
  const fields = shuffle(Object.keys(value)).map(
    (name) =>
      `${blank()}${JSON.stringify(name)}${blank()}:${rewritten((value as Record<string, unknown>)[name], shuffle, blank)}`,
  );
  return `{${fields.join(',')}}`;
}

test('when a request is repeated with other whitespace and another order of names, then it is replayed', async () => {
  const body = fc.record({
    name: fc.constantFrom('Ada', 'Zoë'),
    email: fc.constant('ada@example.com'),
    phone: fc.constantFrom('1', null),
    // An unknown field, but still part of the request.
    note: fc.jsonValue({ maxDepth: 3 }),
  });
  const order = fc.constantFrom<(names: string[]) => string[]>(
    (names) => names,
    (names) => names.toReversed(),
    (names) => names.toSorted(),
  );
  await fc.assert(
    fc.asyncProperty(body, order, fc.constantFrom('', ' ', '\n\t', '\r\n  '), async (value, shuffle, blank) => {
      // These names are rejected in any body.
      fc.pre(!/"(?:__proto__|constructor|prototype)"/.test(JSON.stringify(value)));
      const key = randomUUID();
      const first = await send(key, JSON.stringify(value));
      const again = await send(
        key,
        rewritten(value, shuffle, () => blank),
      );
      expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }),
    runs(50),
  );
});

test('when a key is repeated with another value, name, list order or path, then 422', async () => {
  const { id: client_id } = await createClient(gateway);
  const line = (description: string) => ({ description, quantity: 1, rate: 1 });
  const body = { client_id, due_date: '2031-01-01', line_items: [line('a'), line('b')] };
  const key = randomUUID();
  expect((await send(key, JSON.stringify(body), '/api/v1/invoices')).status).toBe(201);

  for (const other of [
    { ...body, due_date: '2031-01-02' },
    { ...body, currency: 'USD' },
    { ...body, line_items: body.line_items.toReversed() },
  ]) {
    expect((await send(key, JSON.stringify(other), '/api/v1/invoices')).status).toBe(422);
  }
  const quote = { client_id, amount: 1 };
  expect((await send(key, JSON.stringify(quote), '/api/v1/quotes')).status).toBe(422);
  expect((await send(key, JSON.stringify(body), '/api/v1/invoices/')).headers.get('idempotent-replayed')).toBe('true');
});

test('when a large response is repeated, then it is the same, and it is not kept beside its event', async () => {
  const key = randomUUID();
  const body = JSON.stringify({ name: 'Ada', email: 'ada@example.com', address: 'x'.repeat(20_000) });
  const first = await send(key, body);
  const again = await send(key, body);

  expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
  expect(Object.keys(again.body)).toEqual(Object.keys(first.body));
  const kept = await Idempotency.find({ account_id: gateway.account.id, event_id: { $exists: true } }).lean();
  expect(kept.map((record) => record.body.length < 100)).toEqual([true]);
});

test('when a payment that is known by its external id is repeated with ever new keys, then no response is kept', async () => {
  const client = await createClient(gateway);
  const payment = JSON.stringify({ client_id: client.id, amount: 10, external_id: 'bank 1' });
  await send(randomUUID(), payment, '/api/v1/payments');
  const before = await Idempotency.countDocuments({ account_id: gateway.account.id });
  for (let count = 0; count < 3; count += 1) {
    const again = await send(randomUUID(), payment, '/api/v1/payments');
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  }
  expect(await Idempotency.countDocuments({ account_id: gateway.account.id })).toBe(before);
});
