// A name that an operation does not know is ignored, and the response says so: for every operation with a body.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AnswerCheck, answerCheck } from '../../support/contract/answer-check.ts';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make } from '../../support/operations.ts';
import { createClient } from '../../support/records.ts';
import { routeTable } from '../../support/route-table.ts';

let gateway: TestGateway;
let check: AnswerCheck;
beforeAll(async () => {
  gateway = await startGateway();
  check = answerCheck((await gateway.get('/openapi.json', { key: undefined })).body);
});
afterAll(() => gateway.close());

/** The PDF tool has a header for them, see pdf-tool.test.ts. */
const withBodies = routeTable.filter(({ body, produces }) => body && !produces);

test.each(sampled(withBodies).map((row) => [row.operation, row] as const))(
  'when the body of %s has names that it does not know, then the response lists them',
  async (operation, row) => {
    const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    const body = { ...(await bodyFor(gateway, operation, gateway.account)), notez: 'x', 'no such: name': { a: 1 } };
    const method = row.method.toUpperCase();
    const path = filledPath(row.path, id);
    const reply = await gateway.call(method, path, { body });
    expect(reply.body).toMatchObject({ ignored: ['notez', 'no such: name'] });
    check(method, path, reply);
  },
);

test('when every name is known, then the response says nothing of them', async () => {
  const client = { name: 'Ada', email: 'ada@example.com' };
  expect((await gateway.post('/api/v1/clients', client)).body).not.toHaveProperty('ignored');
});

test('when a body is full of unknown names, then 20 are listed, each cut and without control characters', async () => {
  const names = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}\u0007${'n'.repeat(200)}`, 1]));
  const { ignored } = (await gateway.post('/api/v1/clients', { ...names, name: 'Ada', email: 'a@example.com' })).body;
  expect(ignored).toHaveLength(20);
  for (const name of ignored) expect(name).toMatch(/^\d+\ufffdn+$/);
  expect(Math.max(...ignored.map(({ length }: string) => length))).toBe(100);
});

test('when a create is repeated with its Idempotency-Key, then the repetition lists the same names', async () => {
  const body = { name: 'Ada', email: 'ada@example.com', notez: 1 };
  const headers = { 'Idempotency-Key': 'ignored-names' };
  const first = await gateway.post('/api/v1/clients', body, { headers });
  const again = await gateway.post('/api/v1/clients', body, { headers });
  expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  expect([first.body.ignored, again.body]).toEqual([['notez'], first.body]);
});

test('when a change names an unknown field only, then 400 as ever; beside a known one it is listed', async () => {
  const { id } = await createClient(gateway);
  const path = `/api/v1/clients/${id}`;
  expect((await gateway.patch(path, { notez: 1 })).body).toEqual(
    expect.objectContaining({ error: 'No valid fields to update' }),
  );
  expect((await gateway.patch(path, { notez: 1, name: 'Grace' })).body).toMatchObject({ ignored: ['notez'] });
});
