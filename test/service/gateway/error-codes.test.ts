// Callers decide by codes and parameters, never by a text.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { create, createClient, UNKNOWN_ID } from '../../support/records.ts';

interface ErrorBody {
  error: string;
  code: string;
  params: object;
  problems?: object[];
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Returns the function that the guide shows. */
async function explainOfGuide(): Promise<(body: ErrorBody) => string> {
  const [, code = ''] = /```js\n(.*?)```/s.exec(readFileSync('docs/errors.md', 'utf8')) ?? [];
  const { explain } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return explain;
}

test('when a German client follows the guide, then it explains three errors by their codes alone', async () => {
  const explain = await explainOfGuide();
  const client = await createClient(gateway);
  const quote = await create(gateway, '/api/v1/quotes', { client_id: client.id, amount: 1500, status: 'Sent' });
  const dated = { due_date: '2026-12-31', amount: 1 };
  const part = { part: 'progress', amount: 2000, accept: true };
  const bodies = [
    (await gateway.post('/api/v1/invoices', { ...dated, client_id: UNKNOWN_ID })).body,
    (await gateway.post(`/api/v1/quotes/${quote.id}/convert`, part)).body,
    (await gateway.post('/api/v1/invoices', { ...dated, due_date: '2026-02-30' })).body,
  ];
  // The texts do not count.
  const blank = bodies.map((body) => ({ ...body, error: '', details: undefined }));

  expect(blank.map((body) => explain(body))).toEqual([
    'Diesen Kunden gibt es nicht.',
    'Vom Angebot QUO-0001 sind nur noch 1.500,00 abzurechnen.',
    'Kunde fehlt. Fälligkeit ist kein Datum wie 2026-12-31.',
  ]);
});

test('when an error has no words in German, then its text is shown', async () => {
  const explain = await explainOfGuide();

  expect(explain((await gateway.get('/api/v1/nothing')).body)).toBe('Not found');
});

test.each([
  ['no name', { email: 'ada@example.com' }, ['name']],
  ['an empty e-mail address', { name: 'Ada', email: '' }, ['email']],
  ['nothing', {}, ['name', 'email']],
])(
  'when a client has %s, then the text is the specification’s, and the missing fields are named alone',
  async (_what, body, fields) => {
    const reply = await gateway.post('/api/v1/clients', body);

    expect([reply.status, reply.body]).toEqual([
      400,
      {
        error: 'Missing required fields: name, email',
        details: Object.fromEntries(fields.map((field) => [field, [`${field} is required`]])),
        code: 'missing_required_fields',
        params: { fields },
        problems: fields.map((field) => ({ field, code: 'required', message: `${field} is required`, params: {} })),
      },
    ]);
  },
);

test('when a shape of joi finds a problem, then it has a code and parameters of our own', async () => {
  const client = await createClient(gateway);
  const line = { description: 'x', quantity: 1, rate: 1 };
  const body = {
    client_id: client.id,
    due_date: 'soon',
    status: 'Gone',
    tax_rate: 120,
    tax_category: 7,
    description: 'x'.repeat(20_001),
    line_items: [
      { ...line, discount: -1 },
      { ...line, colour: 'red' },
      { ...line, unit: 'furlong' },
    ],
  };
  const { problems } = (await gateway.post('/api/v1/invoices', body)).body as { problems: { field: string }[] };

  expect(problems.toSorted((one, other) => (one.field < other.field ? -1 : 1))).toMatchObject([
    { field: 'description', code: 'too_long', params: { limit: 20_000 } },
    { field: 'due_date', code: 'invalid_date', params: {} },
    { field: 'line_items.0.discount', code: 'too_small', params: { limit: 0 } },
    { field: 'line_items.1.colour', code: 'unknown_field' },
    { field: 'line_items.2.unit', code: 'invalid_unit' },
    { field: 'status', code: 'not_one_of', params: { values: ['Draft', 'Sent'] } },
    { field: 'tax_rate', code: 'too_large', params: { limit: 100 } },
  ]);
});
