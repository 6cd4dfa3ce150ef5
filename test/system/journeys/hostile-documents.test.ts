// Journey: documents made to break the printing go through gateway, queue and renderer; each is rejected or printed in time, and documents of other callers are whole.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { blackPng } from '../../support/renderer/black-png.ts';
import { anInvoice } from '../../support/renderer/documents.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';

let system: TestSystem;
beforeAll(async () => {
  system = await startSystem({ renderers: 1 });
});
afterAll(() => system.close());

const print = (given: object) => system.call('POST', '/api/tools/generate-pdf', { body: { ...anInvoice(), ...given } });

/** Both at once: the neighbour's document is printed meanwhile or afterwards, or gets a 503 and is printed on a retry. */
async function besideNeighbour(given: object) {
  const neighbour = eventually(async () => {
    const reply = await print({ number: 'NEIGHBOUR' });
    if (reply.status === 503) expect(Number(reply.headers.get('Retry-After'))).toBeGreaterThan(0);
    return reply.status !== 503 && reply;
  });
  const [reply, printed] = await Promise.all([print(given), neighbour]);
  expect(printed.status).toBe(200);
  expect((await readPdf(printed.body)).text).toContain('NEIGHBOUR');
  return reply;
}

test('when 9,000 lines are sent, then 400 names the field, and the neighbour is printed', async () => {
  const reply = await besideNeighbour({ lineItems: Array(9_000).fill({ rate: 1 }) });

  expect([reply.status, Object.keys(reply.body.details)]).toEqual([400, ['lineItems']]);
});

test.each([
  ['a word', { clientName: 'W'.repeat(1024 * 1024) }],
  ['markdown', { bodyMarkdown: '*a '.repeat(350_000) }],
])(
  'when %s of a megabyte is sent, then 400 before it is parsed, and the neighbour is printed',
  async (_what, given) => {
    const reply = await besideNeighbour(given);

    expect([reply.status, reply.body]).toEqual([
      400,
      expect.objectContaining({ error: 'Request body must hold no value of more than 300 KiB but images' }),
    ]);
  },
);

test('when 50,000 lines are sent, then 400 before they are parsed, and the neighbour is printed', async () => {
  const reply = await besideNeighbour({ lineItems: Array(50_000).fill({ rate: 1 }) });

  expect([reply.status, reply.body]).toEqual([
    400,
    expect.objectContaining({ error: 'Request body must hold at most 10000 values' }),
  ]);
});

test('when 50,000 lines are larger than a body may be, then 413, and the neighbour is printed', async () => {
  const lineItems = Array(50_000).fill({ description: 'Design and development, by the hour', qty: 1, rate: '62.50' });

  expect((await besideNeighbour({ lineItems })).status).toBe(413);
});

test.each([
  ['open brackets', '['.repeat(99_000)],
  ['nested quotes', '>'.repeat(50_000)],
  ['nested lists', Array.from({ length: 400 }, (_none, depth) => `${' '.repeat(depth)}- x`).join('\n')],
  ['emphasis that ends nowhere', 'a**b'.repeat(24_000)],
  ['a table of 12,000 rows', `|a|b|\n|-|-|\n${'|b|c|\n'.repeat(12_000)}`],
])(
  'when markdown is a bomb of %s, then a PDF or a refusal, and the neighbour is printed',
  async (_what, bodyMarkdown) => {
    const reply = await besideNeighbour({ bodyMarkdown });

    if (reply.status === 200) expect((await readPdf(reply.body)).text).toContain('INV-0042');
    else expect([422, 504]).toContain(reply.status);
  },
);

test('when a logo would unfold to 14,000 × 14,000 pixels, then the document comes without it and says so', async () => {
  const bomb = blackPng(14_000);
  expect(bomb.length).toBeLessThan(64 * 1024);
  const reply = await besideNeighbour({ logoUrl: `data:image/png;base64,${bomb.toString('base64')}` });

  expect(reply.status).toBe(200);
  expect(reply.headers.get('X-Document-Warnings')).toBe('logoUrl: too large');
  expect((await readPdf(reply.body)).text).toMatch(/Grace Hopper.*Invoice/);
});

test('when no font has any of its characters, then the warnings still fit into a header', async () => {
  // Each character another one, of the hieroglyphs of Egypt.
  let code = 0x13000;
  const word = () => String.fromCodePoint(...Array.from({ length: 8 }, () => (code++ % 1_000) + 0x13000));
  const fields = [
    'number',
    'clientName',
    'clientCompany',
    'partnerName',
    'partnerCompany',
    'poNumber',
    'notes',
    'terms',
  ];
  const texts = Object.fromEntries([...fields, 'bodyMarkdown'].map((field) => [field, word()]));
  const lineItems = Array.from({ length: 500 }, () => ({ description: word(), qty: 1, rate: 1 }));
  const reply = await besideNeighbour({ ...texts, lineItems, amount: 600 });

  expect(reply.status).toBe(200);
  const warnings = reply.headers.get('X-Document-Warnings') ?? '';
  expect(warnings.length).toBeLessThan(4_096);
  expect(warnings).toMatch(/lineItems\.0\.description and 499 more: no glyph for U\+[0-9A-F]{5} /);
});

test('when every text is as long as it may be, then all of it is printed, and the neighbour too', async () => {
  const word = 'W'.repeat(2_000);
  const texts = { clientName: word, clientCompany: word, partnerName: word, poNumber: word, notes: 'x'.repeat(20_000) };
  const lineItems = Array.from({ length: 500 }, () => ({ description: 'word '.repeat(20), qty: 1, rate: 1 }));
  const reply = await besideNeighbour({ ...texts, lineItems, amount: 600 });

  expect(reply.status).toBe(200);
  const { text } = await readPdf(reply.body);
  expect(text.match(/x/g)?.length).toBeGreaterThanOrEqual(20_000);
});
