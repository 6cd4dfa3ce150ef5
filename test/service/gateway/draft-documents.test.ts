// Changes before a document is binding: the lines of a quote, the client of a draft, and the deletion of a draft quote.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { originalOf } from '#libs/documents/original-of.ts';
import { quoteDocument } from '#libs/documents/stored-document.ts';
import { NumberLedger } from '#libs/models/billing/number-ledger.ts';
import { Quote, type QuoteRecord } from '#libs/models/billing/quote.ts';
import { Original } from '#libs/models/documents/original.ts';
import { storedId } from '#libs/models/tenant.ts';
import { documentView } from '../../../services/renderer/document/document-view.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  type AnyRecord,
  answerOf,
  create,
  createClient,
  createProject,
  eventsOf,
  lastEvent,
  UNKNOWN_ID,
} from '../../support/records.ts';

const path = '/api/v1/quotes';
const line = { description: 'x', quantity: 1, rate: 100 };

let gateway: TestGateway;
let account: { id: string; key: string };
let client: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, {}, account);
});

const make = (body: object = {}) => create(gateway, path, { client_id: client.id, amount: 100, ...body }, account);
const patch = (id: string, body: object) => gateway.patch(`${path}/${id}`, body, account);
const read = async (id: string) => (await gateway.get(`${path}/${id}`, account)).body.data;
const remove = (id: string) => gateway.delete(`${path}/${id}`, account);

describe('the lines of a quote', () => {
  test.each(['Draft', 'Sent', 'Declined', 'Expired'])(
    'when the lines change while the quote is %s, then their sum is its amount',
    async (status) => {
      const { id } = await make({ line_items: [line], tax_rate: 10 });
      await patch(id, { status });
      const { body } = await patch(id, { line_items: [line, { ...line, rate: '20.5' }] });

      expect(body.data).toMatchObject({ amount: 120.5, tax_amount: 12.05, total: 132.55 });
      expect(body.data.line_items).toHaveLength(2);
      expect(await read(id)).toEqual(body.data);
    },
  );

  test('when the quote is accepted, then 409 names the lines, and sending the same lines is not a change', async () => {
    const { id } = await make({ line_items: [line], status: 'Sent' });
    await patch(id, { status: 'Accepted' });

    for (const line_items of [[{ ...line, rate: 20 }], [], null]) {
      expect(answerOf(await patch(id, { line_items }))).toEqual([
        409,
        expect.objectContaining({ error: 'Cannot change line_items of an accepted quote' }),
      ]);
    }
    expect((await patch(id, { line_items: [line], description: 'Scope' })).status).toBe(200);
    expect(await read(id)).toMatchObject({ amount: 100, status: 'Accepted', line_items: [{ rate: '100' }] });
  });

  test('when amount and lines are sent together, then they must agree', async () => {
    const { id } = await make({ line_items: [line] });

    expect(answerOf(await patch(id, { line_items: [line, line], amount: 20 }))).toEqual([
      400,
      expect.objectContaining({
        error: 'Validation failed',
        details: ['amount must be the sum of line_items, 200, or be left out'],
      }),
    ]);
    expect((await patch(id, { line_items: [line, line], amount: 200 })).body.data.amount).toBe(200);
    expect((await patch(id, { line_items: null, amount: 20 })).body.data).toMatchObject({
      amount: 20,
      line_items: null,
    });
    expect((await patch(id, { line_items: [{ ...line, quantity: -1 }] })).body.details).toEqual([
      'line_items must not sum to less than 0',
    ]);
  });

  test('when only the amount changes, then the printed quote shows an adjustment from the lines to it', async () => {
    const { id } = await make({ line_items: [line], tax_rate: 10, currency: 'EUR' });
    await patch(id, { amount: 20 });
    const quote = (await Quote.findOne({ account_id: account.id, _id: id }).lean()) as unknown as QuoteRecord;
    const issuer = { name: 'Studio', locale: 'en-GB' };
    const parties = { issuer, client: { id: client.id, name: client.name, email: client.email } };
    const looks = { style: 'elegant', layout: 'standard', banner: false, accessible: false, signature: false } as const;
    const printed = quoteDocument(quote, { parties, timeZone: 'UTC', isTest: false }, looks);
    const { view, warnings } = documentView(printed, { logo: undefined, banner: undefined, bodyHtml: undefined });

    expect(view.totals.map(({ label, amount }) => [label, amount.before + amount.symbol + amount.after])).toEqual([
      ['Subtotal', '€100.00'],
      ['Adjustment', '−€80.00'],
      ['Tax (10%)', '€2.00'],
    ]);
    expect([view.total.after, warnings]).toEqual(['22.00', []]);
  });
});

describe('DELETE /api/v1/quotes/{id}', () => {
  test('when it is a draft, then it is deleted, its number leaves a tombstone and is never reused', async () => {
    const { id } = await make();
    const before = await read(id);

    expect(answerOf(await remove(id))).toEqual([200, { success: true, message: 'Quote deleted' }]);
    expect((await gateway.get(`${path}/${id}`, account)).status).toBe(404);
    expect(await lastEvent(account.id)).toMatchObject({ type: 'quote.deleted', data: before });
    const [row] = await NumberLedger.find({ account_id: account.id }).lean();
    expect(row).toMatchObject({ kind: 'quote', number: 1, deleted_at: expect.any(Date) });
    expect((await make()).quote_number).toBe('QUO-0002');
    expect(answerOf(await remove(id))).toEqual([
      404,
      expect.objectContaining({ error: 'Quote not found or access denied' }),
    ]);
    expect((await gateway.get('/api/v1/numbering/audit', account)).body.data.gapless).toBe(true);
  });

  test.each([
    ['stays as it is', async () => undefined, 1],
    ['becomes a draft again', async (id: string) => void (await patch(id, { status: 'Draft' })), 0],
    [
      'is given to another client',
      async (id: string) => {
        const grace = await createClient(gateway, { name: 'Grace' }, account);
        for (const change of [{ status: 'Draft' }, { client_id: grace.id }, { status: 'Sent' }])
          expect((await patch(id, change)).status).toBe(200);
      },
      0,
    ],
    [
      'is deleted',
      async (id: string) => {
        await patch(id, { status: 'Draft' });
        expect((await remove(id)).status).toBe(200);
      },
      0,
    ],
  ])(
    'when it %s while its original is printed, then only that of a quote issued to the same client is kept',
    async (_name, meanwhile, kept) => {
      const { id } = await make({ status: 'Sent' });
      const version = { kind: 'quote', documentId: storedId(id), clientId: storedId(client.id), content: 'x' } as const;
      const printed = await originalOf(version, {
        accountId: account.id,
        async make() {
          await meanwhile(id);
          return { bytes: Buffer.from('%PDF'), warnings: [] };
        },
      });

      expect(String(printed?.bytes)).toBe('%PDF');
      expect([printed?.sha256 !== undefined, printed?.warnings.length]).toEqual([kept === 1, 1 - kept]);
      expect(await Original.countDocuments({ account_id: account.id })).toBe(kept);
    },
  );

  test.each(['Sent', 'Accepted', 'Declined', 'Expired'])('when it is %s, then 409 and it stays', async (status) => {
    const { id } = await make();
    await patch(id, { status });

    expect(answerOf(await remove(id))).toEqual([
      409,
      expect.objectContaining({ error: 'Can only delete quotes with Draft status' }),
    ]);
    expect((await read(id)).status).toBe(status);
    expect(await eventsOf(account.id)).not.toContain('quote.deleted');
  });
});

describe.each([
  [path, 'quote', 'list'],
  ['/api/v1/invoices', 'invoice', 'by-field'],
] as const)('the client of a draft: %s', (at, what, form) => {
  const makeOne = (body: object = {}) =>
    create(gateway, at, { client_id: client.id, amount: 1, due_date: '2031-01-01', ...body }, account);
  const change = (id: string, body: object) => gateway.patch(`${at}/${id}`, body, account);

  test('when the client changes, then the draft belongs to the new client, and is sent to that client', async () => {
    const grace = await createClient(gateway, { name: 'Grace' }, account);
    const { id } = await makeOne();

    expect((await change(id, { client_id: grace.id })).body.data.client.id).toBe(grace.id);
    expect((await change(id, { client_id: client.id, status: 'Sent' })).body.data.client.id).toBe(client.id);
    expect(answerOf(await change(id, { client_id: grace.id }))).toEqual([
      409,
      expect.objectContaining({ error: `Cannot change client_id after the ${what} was sent` }),
    ]);
  });

  test('when its project is not of that client, then 400 names project_id, unless it changes in the same request', async () => {
    const grace = await createClient(gateway, { name: 'Grace' }, account);
    const [first, second] = [
      await createProject(gateway, { client_id: client.id }, account),
      await createProject(gateway, { client_id: grace.id }, account),
    ];
    const { id } = await makeOne({ project_id: first.id });
    const problem = 'project_id must be a project of the same client';

    for (const body of [
      { client_id: grace.id },
      { project_id: second.id },
      { client_id: grace.id, project_id: first.id },
    ])
      expect((await change(id, body)).body.details).toEqual(form === 'list' ? [problem] : { project_id: [problem] });
    expect((await change(id, { client_id: grace.id, project_id: second.id })).body.data).toMatchObject({
      client: { id: grace.id },
      project: { id: second.id },
    });
    expect((await change(id, { client_id: client.id, project_id: null })).body.data.project).toBeNull();
    expect(answerOf(await change(id, { client_id: UNKNOWN_ID }))).toEqual([
      404,
      expect.objectContaining({ error: 'Client not found or access denied' }),
    ]);
  });
});
