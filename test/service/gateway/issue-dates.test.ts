// Issue dates and service dates of documents: given or by default, in the order of issue, and as printed.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { findInvoiceDocument, findQuoteDocument } from '#libs/documents/find-document.ts';
import { Account, type AccountRecord } from '#libs/models/accounts/account.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type AnyRecord, answerOf, create, createClient } from '../../support/records.ts';

const today = dayIn('UTC');
const days = (count: number) => addDays(today, count);

let gateway: TestGateway;
let account: { id: string; key: string };
let client_id: string;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client_id = (await createClient(gateway, {}, account)).id;
});

const kinds = [
  ['invoices', 'by-field'],
  ['quotes', 'list'],
] as const;

describe.each(kinds)('%s', (kind, form) => {
  const path = `/api/v1/${kind}`;
  const body = { amount: 1, due_date: '2031-01-01' };
  const post = (fields: object) => gateway.post(path, { client_id, ...body, ...fields }, account);
  const make = (fields: object = {}) => create(gateway, path, { client_id, ...body, ...fields }, account);
  const patch = (id: string, fields: object) => gateway.patch(`${path}/${id}`, fields, account);
  const read = async (id: string) => (await gateway.get(`${path}/${id}`, account)).body.data;
  const problem = (field: string, message: string) => [
    400,
    expect.objectContaining({
      error: 'Validation failed',
      details: form === 'list' ? [message] : { [field]: [message] },
    }),
  ];
  const late = (day: string) => problem('issue_date', `issue_date must not be after ${day}`);
  const early = (day: string) =>
    problem('issue_date', `issue_date must not be before ${day}, when the last one was issued`);

  test('when no issue date is given, then a draft has none, and it is issued on the current day of the account', async () => {
    const draft = await make();
    expect(draft).toMatchObject({ issue_date: null, service_date: null, service_period: null });
    expect((await patch(draft.id, { status: 'Sent' })).body.data.issue_date).toBe(today);
    expect(await make({ status: 'Sent' })).toMatchObject({ issue_date: today });
    for (const time_zone of ['Pacific/Kiritimati', 'Etc/GMT+12']) {
      account = await gateway.workspace.account();
      client_id = (await createClient(gateway, {}, account)).id;
      await gateway.patch('/api/v1/account', { time_zone }, account);
      expect((await make({ status: 'Sent' })).issue_date).toBe(dayIn(time_zone));
    }
  });

  test('when an issue date is given, then a draft can change or clear it, and an issued document cannot', async () => {
    const { id, issue_date } = await make({ issue_date: days(-400) });
    expect(issue_date).toBe(days(-400));
    expect((await patch(id, { issue_date: days(-3) })).body.data.issue_date).toBe(days(-3));
    expect((await patch(id, { issue_date: null })).body.data.issue_date).toBeNull();
    expect((await patch(id, { issue_date: days(1), status: 'Sent' })).body.data.issue_date).toBe(days(1));

    expect(answerOf(await patch(id, { issue_date: today }))).toEqual([
      409,
      expect.objectContaining({ error: `Cannot change issue_date after the ${kind.slice(0, -1)} was sent` }),
    ]);
    expect((await patch(id, { issue_date: days(1) })).status).toBe(200);
    expect((await read(id)).issue_date).toBe(days(1));
  });

  test('when an issue date is after tomorrow or before that of the last issued document, then 400 names it', async () => {
    await make({ status: 'Sent', issue_date: days(-10) });
    await make({ issue_date: days(-2) }); // A draft was not issued.
    expect(answerOf(await post({ issue_date: days(2) }))).toEqual(late(days(1)));
    expect(answerOf(await post({ issue_date: days(-11), status: 'Sent' }))).toEqual(early(days(-10)));
    const draft = await make({ issue_date: days(-10) });
    await make({ status: 'Sent' });

    expect(answerOf(await patch(draft.id, { status: 'Sent' }))).toEqual(early(today));
    expect((await patch(draft.id, { status: 'Sent', issue_date: today })).status).toBe(200);
    expect((await gateway.get('/api/v1/numbering/audit', account)).body.data.gapless).toBe(true);
  });

  test('when the last document was dated tomorrow, then the next one is not dated before it', async () => {
    await make({ status: 'Sent', issue_date: days(1) });

    expect((await make({ status: 'Sent' })).issue_date).toBe(days(1));
  });

  test('when the account allows backdating, then a day before the last issue date is accepted', async () => {
    await make({ status: 'Sent' });
    await gateway.patch('/api/v1/account', { allow_backdating: true }, account);

    expect((await make({ status: 'Sent', issue_date: days(-30) })).issue_date).toBe(days(-30));
    expect(answerOf(await post({ issue_date: days(2) }))).toEqual(late(days(1)));
    expect((await make({ status: 'Sent' })).issue_date).toBe(today);
    await gateway.patch('/api/v1/account', { allow_backdating: null }, account);
    expect((await post({ status: 'Sent', issue_date: days(-30) })).status).toBe(400);
  });

  test('when a service day or a service period is given, then that one is stored and printed', async () => {
    const service_period = { from: '2026-10-01', to: '2026-10-31' };
    const made = await make({ service_period, issue_date: days(-1) });
    expect(made).toMatchObject({ service_period, service_date: null });
    expect((await patch(made.id, { service_date: '2026-10-15' })).body.data).toMatchObject({
      service_period: null,
      service_date: '2026-10-15',
    });
    const find = kind === 'invoices' ? findInvoiceDocument : findQuoteDocument;
    const issuing = { accountId: account.id, account: (await Account.findById(account.id).lean()) as AccountRecord };
    const looks = {
      style: 'elegant',
      layout: 'standard',
      banner: false,
      accessible: false,
      signature: false,
      time: false,
    } as const;
    const printed = () => find(issuing, made.id, looks);
    expect(await printed()).toMatchObject({ date: days(-1), serviceDate: '2026-10-15' });
    await patch(made.id, { service_period });
    expect(await printed()).toMatchObject({ servicePeriod: service_period });
    expect((await patch(made.id, { service_period: null })).body.data.service_period).toBeNull();

    expect(answerOf(await post({ service_period, service_date: '2026-10-15' }))).toEqual(
      problem('service_period', 'service_period must not stand beside service_date'),
    );
    expect(answerOf(await post({ service_period: { from: '2026-10-02', to: '2026-10-01' } }))).toEqual(
      problem('service_period', 'service_period.to must not be before service_period.from'),
    );
    expect((await post({ service_period: { from: '2026-02-30' } })).status).toBe(400);
  });
});

test('when a sent quote becomes a draft again, then it gets a new issue date', async () => {
  const { id } = await create(gateway, '/api/v1/quotes', { client_id, amount: 1, status: 'Sent' }, account);
  const turn = async (fields: object) =>
    (await gateway.patch(`/api/v1/quotes/${id}`, fields, account)).body.data as AnyRecord;

  expect((await turn({ status: 'Draft' })).issue_date).toBeNull();
  expect((await turn({ status: 'Sent', issue_date: days(1) })).issue_date).toBe(days(1));
});

test('when an invoice was sent, then its references stay; on a draft they can be cleared', async () => {
  const draft = { client_id, amount: 1, due_date: '2031-01-01', order_reference: 'PO-1', contract_reference: 'C-1' };
  const { id } = await create(gateway, '/api/v1/invoices', draft, account);
  const change = (fields: object) => gateway.patch(`/api/v1/invoices/${id}`, fields, account);

  expect((await change({ contract_reference: null, buyer_reference: 'R-7' })).body.data).toMatchObject({
    buyer_reference: 'R-7',
    order_reference: 'PO-1',
    contract_reference: null,
  });
  await change({ status: 'Sent' });
  const changed = await change({ order_reference: 'PO-2', buyer_reference: '' });
  expect([changed.status, changed.body]).toEqual([
    409,
    expect.objectContaining({ error: 'Cannot change buyer_reference, order_reference after the invoice was sent' }),
  ]);
});

test('when an invoice was sent, then its service dates stay', async () => {
  const fields = { client_id, amount: 1, due_date: '2031-01-01', status: 'Sent', service_date: '2026-10-15' };
  const { id } = await create(gateway, '/api/v1/invoices', fields, account);

  expect(answerOf(await gateway.patch(`/api/v1/invoices/${id}`, { service_date: '2026-10-16' }, account))).toEqual([
    409,
    expect.objectContaining({ error: 'Cannot change service_date after the invoice was sent' }),
  ]);
  expect((await gateway.patch(`/api/v1/invoices/${id}`, { service_date: '2026-10-15' }, account)).status).toBe(200);
});
