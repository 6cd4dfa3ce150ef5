// Discount, shipping and texts of invoices whose lines Billhook makes: the money is that of the same invoice by POST /invoices.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pick } from 'es-toolkit/object/pick';
import fc from 'fast-check';
import { auditBilledOnce } from '#libs/billing/audits/billed-once-audit.ts';
import { auditLedger } from '#libs/billing/audits/ledger-audit.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';
import { type RandomDocument, randomDocument } from '../../support/random-documents.ts';
import type { AnyRecord } from '../../support/records.ts';

/** Fixed, so that every run is the same; another seed can be given. */
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_128);
const CASES = 12;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

async function studio(currency = 'EUR') {
  const { id, key } = await gateway.workspace.account();
  const api = verbsOf(callerOf(gateway.url, key));
  const post = async (path: string, body: object): Promise<AnyRecord> => {
    const { status, body: answer } = await api.post(`/api/v1/${path}`, body);
    return status < 300 ? { status, data: answer.data } : { status, details: answer.details };
  };
  const made = async (path: string, body: object): Promise<AnyRecord> => {
    const { status, data, details } = await post(path, body);
    expect([path, status, details]).toEqual([path, 201, undefined]);
    return data;
  };
  const client = await made('clients', { name: 'Ada', email: 'ada@example.com', hourly_rate: 90.5, currency });
  const left = async (project: string) => (await api.get(`/api/v1/projects/${project}`)).body.data.left_to_bill;
  const audits = async () => [...(await auditLedger(id)), ...(await auditBilledOnce(id))];
  return { api, post, made, client: client.id, left, audits };
}

type Studio = Awaited<ReturnType<typeof studio>>;

const MONEY = ['currency', 'amount', 'subtotal', 'tax_amount', 'total', 'taxes', 'prices_include_tax'] as const;
const CHARGED = [
  ...['discount_amount', 'discount_percent', 'shipping_amount', 'shipping_tax_rate', 'shipping_tax_category'],
  ...['notes', 'terms'],
] as const;

const charges = fc.record(
  {
    discount: fc.oneof(
      fc.integer({ min: 0, max: 10_000 }).map((basisPoints) => ({ discount_percent: basisPoints / 100 })),
      fc.constantFrom(0, 0.5, 120, 400, 1_000_000).map((amount) => ({ discount_amount: amount })),
    ),
    shipping: fc.integer({ min: 0, max: 90 }).map((shipping_amount) => ({ shipping_amount, shipping_tax_rate: 5 })),
    texts: fc.constantFrom({ notes: 'Thank you' }, { terms: 'Two weeks' }, { notes: '', terms: 'Two weeks' }),
  },
  { requiredKeys: [] },
);

/** Each makes lines of its own and returns its path and body; a quote has those of the document. */
const WAYS = {
  async 'from time'({ made, client }: Studio, { line_items, ...terms }: RandomDocument) {
    const project = (await made('projects', { name: 'Engine', client_id: client })).id;
    await made('time-entries', { project_id: project, hours: 3.35, date: '2026-11-02' });
    return { path: 'invoices/from-time', body: { client_id: client, ...terms, extra_lines: line_items } };
  },
  async 'of a fixed amount'({ made, client }: Studio, { line_items, currency, ...terms }: RandomDocument) {
    const fixed = { name: 'Logo', client_id: client, billing: 'fixed', fixed_amount: 937, currency };
    const project = (await made('projects', fixed)).id;
    return { path: `projects/${project}/bill`, body: { percent: 33, ...terms, extra_lines: line_items } };
  },
  async 'of a quote'({ made, client }: Studio, { line_items, ...terms }: RandomDocument) {
    const invoice = { client_id: client, due_date: '2099-12-31', ...terms, line_items };
    const { amount } = await made('invoices', invoice);
    const quote = await made('quotes', { client_id: client, amount, ...terms, line_items });
    return { path: `quotes/${quote.id}/convert`, body: { accept: true } };
  },
};

test.each(Object.entries(WAYS))(
  'when any discount, shipping and texts are given to an invoice %s, then money, texts and refusals are those of the same invoice by hand',
  async (_name, prepare) => {
    const property = fc.asyncProperty(randomDocument, charges, async (document, given) => {
      const own = await studio(document.currency);
      const { path, body } = await prepare(own, document);
      const fields = { ...given.discount, ...given.shipping, ...given.texts };
      const preview = await own.api.post(`/api/v1/${path}?dry_run=true`, body);
      const { line_items } = preview.body.data;
      const byHand = { client_id: own.client, due_date: '2099-12-31', ...pick(document, ['currency', 'tax_rate']) };
      const expected = await own.post('invoices', {
        ...{ ...byHand, prices_include_tax: document.prices_include_tax, line_items },
        ...fields,
      });
      const invoice = await own.post(path, { ...body, ...fields });
      expect(invoice.status).toBe(expected.status);
      if (expected.status !== 201) {
        expect(JSON.stringify(invoice.details)).toContain(Object.values(expected.details).flat()[0]);
        return;
      }
      expect(pick(invoice.data, [...MONEY, ...CHARGED])).toEqual(pick(expected.data, [...MONEY, ...CHARGED]));
      expect(await own.audits()).toEqual([]);
    });
    await fc.assert(property, { numRuns: CASES, seed: SEED, endOnFailure: true });
  },
);

describe('a part of a fixed amount with a discount', () => {
  const wanted = { percent: 50, discount_percent: 10, tax_rate: 20, status: 'Sent' };
  async function billed(extra: object = {}) {
    const own = await studio();
    const fixed = { name: 'Logo', client_id: own.client, billing: 'fixed', fixed_amount: 1_000 };
    const project = (await own.made('projects', fixed)).id as string;
    const invoice = await own.made(`projects/${project}/bill`, { ...wanted, ...extra });
    return { ...own, project, invoice, credits: `invoices/${invoice.id}/credit-notes` };
  }

  test('when it is billed, then the discount lowers the invoice and not what is billed of the amount', async () => {
    const { invoice, left, project } = await billed();
    expect(invoice).toMatchObject({ amount: 450, subtotal: 500, total: 540, fixed_part: { amount: 500 } });
    expect(await left(project)).toBe(500);
  });

  test('when all of it is corrected, then the whole part can be billed again', async () => {
    const { made, credits, left, project, audits } = await billed();
    // A fifth of the 450 that the half costs after the discount.
    await made(credits, { reason: 'correction', amount: 90 });
    expect(await left(project)).toBe(600);
    await made(credits, { reason: 'correction' });
    expect([await left(project), await audits()]).toEqual([1_000, []]);
  });

  test('when no more is corrected than other lines cost after the discount, then nothing of the part is given back', async () => {
    const extra_lines = [{ description: 'Print', quantity: 1, rate: 400 }];
    const { made, credits, left, project, audits } = await billed({ extra_lines });
    await made(credits, { reason: 'correction', amount: 360 });
    expect([await left(project), await audits()]).toEqual([500, []]);
    await made(credits, { reason: 'correction', amount: 45 });
    expect([await left(project), await audits()]).toEqual([550, []]);
  });
});

describe('a quote that is converted', () => {
  async function quoted(fields: object = {}) {
    const own = await studio();
    const line_items = [{ description: 'Design', quantity: 1, rate: 1_000 }];
    const quote = await own.made('quotes', { client_id: own.client, amount: 1_000, line_items, ...fields });
    return { ...own, path: `quotes/${quote.id}/convert` };
  }

  test('when the conversion names no discount, shipping or texts, then they are those of the quote; each that it names replaces its own', async () => {
    const { made, path } = await quoted({
      discount_percent: 10,
      shipping_amount: 30,
      notes: 'Thank you',
      terms: 'Soon',
    });
    expect(await made(path, { accept: true, shipping_amount: 12, terms: '', notes: null })).toMatchObject({
      amount: 912,
      discount_percent: 10,
      discount_amount: 100,
      shipping_amount: 12,
      notes: 'Thank you',
      terms: null,
    });
  });

  test('when a part names a discount or shipping, then 400 says so, since parts add up to the quote; texts it may have', async () => {
    const { post, made, path } = await quoted();
    const deposit = { part: 'deposit', percent: 30, accept: true };
    expect(await post(path, { ...deposit, discount_percent: 5, shipping_amount: 1 })).toMatchObject({
      status: 400,
      details: ['discount_percent, shipping_amount must not be given for deposit: its price is that of the quote'],
    });
    expect(await made(path, { ...deposit, notes: 'First of two' })).toMatchObject({
      amount: 300,
      notes: 'First of two',
    });
  });
});
