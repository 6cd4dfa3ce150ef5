// Journey: a caller's data become a PDF through gateway, queue and renderer, whatever breaks on the way.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { startSystem, type TestSystem } from '../support/system.ts';

let system: TestSystem;
beforeAll(async () => {
  system = await startSystem({ renderers: 2 });
});
afterAll(() => system.close());

const invoice = {
  title: 'Invoice',
  number: 'INV-0042',
  date: '2026-11-21',
  dueDate: '2026-12-21',
  clientName: 'Ada Lovelace',
  clientEmail: 'ada@example.com',
  partnerName: 'Studio North',
  partnerEmail: 'hello@north.example',
  amount: 1200,
  lineItems: [{ description: 'Design', qty: 10, rate: '100' }],
};

const makePdf = (body: object = invoice) => system.call('POST', '/api/tools/generate-pdf', { body });
const startOf = (bytes: Buffer) => bytes.subarray(0, 5).toString('latin1');

test('when the data are complete, then a whole PDF is streamed under the name of its number', async () => {
  const reply = await makePdf();

  expect(reply.status).toBe(200);
  expect(reply.headers.get('Content-Type')).toBe('application/pdf');
  expect(reply.headers.get('Content-Disposition')).toContain('INV-0042.pdf');
  expect(Number(reply.headers.get('Content-Length'))).toBe(reply.body.length);
  expect(startOf(reply.body)).toBe('%PDF-');
  expect(reply.body.subarray(-8).toString('latin1')).toContain('%%EOF');
});

test('when several fields are wrong, then 400 names all of them and nothing is printed', async () => {
  const reply = await makePdf({ ...invoice, date: '2026-02-30', textScale: 2, brandColor: 'red' });

  expect(reply.status).toBe(400);
  expect(Object.keys(reply.body.details).toSorted()).toEqual(['brandColor', 'date', 'textScale']);
});

test('when a renderer is killed in the middle of many documents, then every caller still gets a PDF', async () => {
  const replies = Promise.all(
    Array.from({ length: 12 }, (_, index) => makePdf({ ...invoice, number: `INV-${index}` })),
  );
  const [victim] = system.renderers;
  victim?.kill('SIGKILL');

  expect((await replies).map(({ status, body }) => [status, body.error])).toEqual(Array(12).fill([200, undefined]));
});

test('when Redis is unavailable, then 503 with Retry-After, and documents are printed again once it is available', async () => {
  await system.redis.kill();
  const refused = await makePdf();
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);

  await system.redis.start();

  const reply = await eventually(async () => {
    const attempt = await makePdf();
    return attempt.status === 200 && attempt;
  });
  expect(startOf(reply.body)).toBe('%PDF-');
});
