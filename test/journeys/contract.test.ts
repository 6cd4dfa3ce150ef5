// The specification's rules about the PDF tool and about events, on all services as processes.
import { afterAll, beforeAll, expect } from '@jest/globals';
import { type AnswerCheck, answerCheck } from '../support/contract/answer-check.ts';
import { UNAUTHORIZED } from '../support/contract/contract.ts';
import { pdfText, prints } from '../support/contract/pdf-text.ts';
import { proves } from '../support/contract/proves.ts';
import { eventually } from '../support/eventually.ts';
import type { Reply } from '../support/gateway.ts';
import { type Receiver, startReceiver, verify } from '../support/receiver.ts';
import { startSystem, type TestSystem } from '../support/system.ts';

let system: TestSystem;
let check: AnswerCheck;
let example: object;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  system = await startSystem();
  const document = (await system.call('GET', '/openapi.json')).body;
  example = document.components.schemas.GeneratePdfBody.examples[0];
  check = answerCheck(document);
});
afterAll(async () => {
  await receiver.close();
  await system.close();
});

const path = '/api/tools/generate-pdf';
const least = {
  title: 'Invoice',
  number: 'A-17',
  date: '2026-11-02',
  clientName: 'Ada Lovelace',
  clientEmail: 'ada@example.com',
  partnerName: 'Studio North',
  partnerEmail: 'hello@north.example',
  amount: 1234.5,
  lineItems: [{ description: 'Drawing', qty: 10, rate: '100' }],
};
const RED_DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';

async function make(fields: object = {}): Promise<Reply> {
  const reply = await system.call('POST', path, { body: { ...least, ...fields } });
  check('POST', path, reply);
  return reply;
}

async function textOf(fields: object = {}): Promise<string> {
  const reply = await make(fields);
  if (reply.status !== 200) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`);
  return pdfText(reply.body);
}

async function expectRefused(cases: object[]) {
  for (const fields of cases) {
    const reply = await make(fields);
    expect([fields, reply.status, reply.body.error]).toEqual([fields, 400, 'Validation failed']);
    expect(Object.keys(reply.body.details)[0]).toMatch(new RegExp(`^${Object.keys(fields)[0]}`));
  }
}

proves('does.pdf pdf.answer', "when the document's own example is sent, then it prints", async () => {
  expect(await textOf(example)).toContain('Ada Lovelace');
});

proves(
  'does.pdf pdf.answer pdf.title pdf.lines version.pdf',
  'when the least is given, then a PDF file comes',
  async () => {
    const reply = await make();

    expect(reply.status).toBe(200);
    expect(reply.headers.get('Content-Type')).toBe('application/pdf');
    expect(reply.headers.get('Content-Disposition')).toMatch(/^attachment/);
    expect(reply.body.subarray(0, 5).toString()).toBe('%PDF-');
  },
);

proves('pdf.headers auth.pdf', 'when the key or the content type is missing, then it is refused', async () => {
  const unknown = await system.call('POST', path, { body: least, key: undefined });
  const plain = await system.call('POST', path, {
    raw: JSON.stringify(least),
    headers: { 'Content-Type': 'text/plain' },
  });

  expect([unknown.status, unknown.body]).toEqual([401, UNAUTHORIZED]);
  expect(plain.status).toBe(415);
});

proves('pdf.required', 'when required fields are absent, then 400 names every one', async () => {
  const reply = await system.call('POST', path, { body: {} });

  expect(reply.status).toBe(400);
  expect(Object.keys(reply.body.details).toSorted()).toEqual(Object.keys(least).toSorted());
});

proves(
  'pdf.title pdf.date pdf.tax pdf.scale pdf.font pdf.layout pdf.color pdf.logo pdf.lines pdf.line-numbers limit.scale limit.tax pdf.amount',
  'when a field breaks its rule, then 400 names it',
  async () => {
    await expectRefused([
      { title: 'Receipt' },
      { date: '2026-02-30' },
      { dueDate: 'soon' },
      { expiryDate: '2026-13-01' },
      { taxRate: 101 },
      { taxRate: -1 },
      { textScale: 0.79 },
      { textScale: 1.21 },
      { fontStyle: 'comic' },
      { layoutType: 'sideways' },
      { brandColor: 'red' },
      { logoUrl: 'not a url' },
      { lineItems: 'none' },
      { lineItems: [{ qty: 'ten' }] },
      { lineItems: [{ rate: true }] },
      { amount: '12' },
    ]);
  },
);

proves(
  'pdf.amount pdf.subtotal pdf.tax pdf.currency pdf.lines pdf.line-numbers limit.tax',
  'when amounts are left to the service, then subtotal of the lines, 20 % tax, $ and the amount as given are printed',
  async () => {
    const text = await textOf({ lineItems: [{ description: 'Drawing', qty: '2', rate: 150.25 }, { id: 'x' }] });

    expect(text).toContain('$300.50');
    expect(text).toContain('20%');
    expect(text).toContain('$60.10');
    expect(text).toContain('$1,234.50');
  },
);

proves(
  'pdf.subtotal pdf.tax pdf.currency pdf.discount pdf.shipping',
  'when amounts are given, then they are printed, and tax is of subtotal less discount',
  async () => {
    const text = await textOf({
      subtotal: 500,
      discountAmount: 100,
      shippingAmount: 12.25,
      taxRate: 10,
      currencySymbol: '€',
      amount: 452.25,
    });

    for (const amount of ['€500.00', '€100.00', '€40.00', '€12.25', '€452.25']) expect(text).toContain(amount);
  },
);

proves('pdf.companies pdf.texts pdf.markdown pdf.due', 'when texts are given, then they are printed', async () => {
  const texts = {
    clientCompany: 'Analytical Engines',
    partnerCompany: 'North GmbH',
    notes: 'Thank you kindly',
    terms: 'Net thirty',
    poNumber: 'PO-991',
  };
  const text = await textOf({ ...texts, dueDate: '2026-12-02', bodyMarkdown: '## Scope\n\nA **bold** plan' });

  const phrases = [...Object.values(texts), 'Due date', 'Scope', 'bold'];
  expect(phrases.filter((phrase) => !prints(text, phrase))).toEqual([]);
  expect(text).not.toContain('**');
});

proves(
  'pdf.quote-labels pdf.expiry pdf.intro pdf.signature pdf.payment-days pdf.title',
  'when it is a quote, then with the labels and parts of quotes',
  async () => {
    const text = await textOf({
      title: 'Quote',
      isQuote: true,
      expiryDate: '2026-12-24',
      quoteIntro: 'We are glad to offer',
      requiresSignature: true,
      paymentDueDays: 21,
    });

    const phrases = ['Valid until', '24 December 2026', 'We are glad to offer', '21 days', 'Signature'];
    expect(phrases.filter((phrase) => !prints(text, phrase))).toEqual([]);
    expect(prints(text, 'Due date')).toBe(false);
  },
);

proves(
  'pdf.font pdf.layout pdf.scale pdf.banner pdf.color pdf.logo limit.scale',
  'when the look is chosen, then every choice prints',
  async () => {
    const looks = [
      ...['elegant', 'modern', 'classic'].map((fontStyle) => ({ fontStyle })),
      ...['standard', 'overlay'].map((layoutType) => ({ layoutType })),
      ...[0.8, 1.2].map((textScale) => ({ textScale })),
      { showBanner: false },
      { brandColor: '#0b5fb0', logoUrl: RED_DOT },
    ];
    for (const look of looks) expect([look, (await textOf(look)).includes('Ada Lovelace')]).toEqual([look, true]);
  },
);

proves(
  'event.webhook event.client-created create-client.event',
  'when a client is created, then the event is delivered as a webhook',
  async () => {
    const endpoint = await system.call('POST', '/api/v1/webhooks', {
      body: { url: receiver.url, events: ['client.created'] },
    });
    expect(endpoint.status).toBe(201);
    const client = await system.call('POST', '/api/v1/clients', { body: { name: 'Ada', email: 'ada@example.com' } });

    const received = await eventually(() => receiver.received[0]);
    expect(verify(endpoint.body.data.secret, received)).toMatchObject({
      type: 'client.created',
      data: client.body.data,
    });
  },
);
