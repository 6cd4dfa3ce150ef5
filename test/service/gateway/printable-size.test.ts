// Printable text is limited when it is stored, so that no stored invoice or quote is too large for a renderer.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { invoiceDocument } from '#libs/documents/stored-document.ts';
import { Account, type AccountRecord } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord } from '#libs/models/accounts/client.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { partiesOf } from '#libs/models/billing/parties.ts';
import { findOwn } from '#libs/models/records.ts';
import { requireBoundedWork, WORK_PAGES_MAX } from '#libs/rules/documents/layout-work.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, create, createClient, createProject, eventsOf } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

const BREAKS = '\n'.repeat(19_998);
const line = (description: string) => ({ description, quantity: 1, rate: 10 });
const lines = (count: number, description: string) => Array.from({ length: count }, () => line(description));
const HOSTILE: [string, object][] = [
  ['sixty lines of line breaks', { line_items: lines(60, `${'\n'.repeat(1_998)}a`) }],
  ['scripts that change with each letter', { line_items: lines(60, 'a字ب'.repeat(500)) }],
  ['characters that no font has', { line_items: lines(60, '\u{12000}\u{12345}'.repeat(480)) }],
  ['a description of line breaks', { description: `a${BREAKS}`, amount: 10 }],
];
const AT_MOST = /estimated at [\d,]+ pages of work, at most \d+ are printed$/;

let gateway: TestGateway;
let account: TestAccount;
let client: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, {}, account);
});

describe.each([
  ['invoices', { due_date: '2031-01-01', amount: 1 }],
  ['quotes', { amount: 1 }],
])('%s', (kind, fields) => {
  const path = `/api/v1/${kind}`;

  test.each(HOSTILE)(
    'when one is created with %s, then 422 names estimate and limit, and nothing is stored',
    async (_what, content) => {
      const before = await eventsOf(account.id);
      const reply = await gateway.post(path, { ...fields, client_id: client.id, ...content }, account);

      expect([reply.status, reply.body.error]).toEqual([422, expect.stringMatching(AT_MOST)]);
      expect(await eventsOf(account.id)).toEqual(before);
      // No number is drawn either.
      const next = await create(gateway, path, { ...fields, client_id: client.id }, account);
      expect(next.number ?? next.invoice_number ?? next.quote_number).toMatch(/0001$/);
    },
  );

  test.each(HOSTILE)('when one is changed to %s, then 422, and nothing changes', async (_what, content) => {
    const { id } = await create(gateway, path, { ...fields, client_id: client.id, description: 'Design' }, account);
    const before = (await gateway.get(`${path}/${id}`, account)).body.data;
    const { amount: _amount, ...changes } = content as { amount?: number };
    const reply = await gateway.patch(`${path}/${id}`, changes, account);

    expect([reply.status, reply.body.error]).toEqual([422, expect.stringMatching(AT_MOST)]);
    expect((await gateway.get(`${path}/${id}`, account)).body.data).toEqual(before);
  });
});

test('when time whose text is too much is added to a draft, then 422, and the draft stays as it was', async () => {
  const project = await createProject(gateway, { client_id: client.id, hourly_rate: 10 }, account);
  const description = `a${'\n'.repeat(1_900)}b`;
  const log = async () =>
    (
      await create(
        gateway,
        '/api/v1/time-entries',
        { project_id: project.id, hours: 1, date: '2026-11-02', description },
        account,
      )
    ).id as string;
  const bill = (path: string, time_entry_ids: string[], fields: object = {}) =>
    gateway.post(path, { time_entry_ids, group_by: 'entry', ...fields }, account);
  const entries = [await log(), await log()];
  const draft = (await bill('/api/v1/invoices/from-time', entries, { client_id: client.id })).body.data;
  const path = `/api/v1/invoices/${draft.id}`;
  const reply = await bill(`${path}/time-entries`, [await log()]);

  expect([reply.status, reply.body.error]).toEqual([422, expect.stringMatching(AT_MOST)]);
  expect((await gateway.get(path, account)).body.data).toEqual(draft);
});

test('when a client or the issuer gets an address of line breaks, then 422, and nothing is stored', async () => {
  const address = `a${BREAKS}b`;
  const named = { name: 'Ada', email: 'ada@example.com' };
  const replies = [
    await gateway.post('/api/v1/clients', { ...named, address }, account),
    await gateway.patch(`/api/v1/clients/${client.id}`, { address }, account),
    await gateway.patch('/api/v1/account', { address }, account),
    await gateway.patch('/api/v1/account', { bank_details: address }, account),
  ];

  for (const { status, body } of replies) {
    expect([status, body.error]).toEqual([422, expect.stringMatching(AT_MOST)]);
  }
  expect((await gateway.get(`/api/v1/clients/${client.id}`, account)).body.data).toEqual(client);
  expect((await gateway.get('/api/v1/account', account)).body.data).toMatchObject({
    address: null,
    bank_details: null,
  });
});

test('when document, client and issuer have their maximum sizes, then they can be printed together', async () => {
  const han = '字'.repeat(20_000);
  const large = await createClient(gateway, { name: '字'.repeat(1_900), address: han }, account);
  await gateway.patch('/api/v1/account', { address: han, bank_details: 'x'.repeat(20_000) }, account);
  const content = { due_date: '2031-01-01', line_items: lines(52, 'word\n'.repeat(81)), description: han };
  const { id } = await create(gateway, '/api/v1/invoices', { client_id: large.id, ...content }, account);

  const issuer = (await Account.findById(account.id).lean<AccountRecord>()) as AccountRecord;
  const recipient = (await findOwn(Client, account.id, large.id)) as ClientRecord;
  const invoice = (await findOwn(Invoice, account.id, id)) as InvoiceRecord;
  const faces = { parties: partiesOf(issuer, recipient), timeZone: 'UTC', isTest: false };
  const pages = requireBoundedWork(invoiceDocument(invoice, faces, {} as never));
  expect(pages).toBeGreaterThan(120);
  expect(pages).toBeLessThanOrEqual(WORK_PAGES_MAX);
});
