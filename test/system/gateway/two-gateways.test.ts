// Two gateway processes on one database: numbers without holes and one effect per Idempotency-Key.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { NumberLedger } from '#libs/models/billing/number-ledger.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { watchedService } from '../../support/crashes/crash-points.ts';
import { spawnGateway } from '../../support/spawn-gateway.ts';
import { openWorkspace, type TestAccount, type Workspace } from '../../support/workspace.ts';

type Gateway = Awaited<ReturnType<typeof spawnGateway>>;

let workspace: Workspace;
let account: TestAccount;
let gateways: Gateway[] = []; // Also when one of them did not start.
let client_id: string;

beforeAll(async () => {
  workspace = await openWorkspace();
  account = await workspace.account();
  gateways = await Promise.all([spawnGateway(workspace, account.key), spawnGateway(workspace, account.key)]);
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await workspace.close();
});
beforeEach(async () => {
  account = await workspace.account();
  client_id = (await send(0, 'POST', '/api/v1/clients', { name: 'Ada', email: 'ada@example.com' })).body.data.id;
});

const send = (gateway: number, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  (gateways[gateway % 2] as Gateway).send(method, path, { key: account.key, body, headers });
const invoice = () => ({ client_id, amount: 10, due_date: '2031-01-01' });
const audit = async () => (await send(0, 'GET', '/api/v1/numbering/audit')).body.data;

describe('numbers', () => {
  test('when 200 invoices are created at once through both, then all get 201 and the numbers 1 to 200', async () => {
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, index) => send(index, 'POST', '/api/v1/invoices', invoice())),
    );

    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 200 }, () => 201));
    const numbers = replies.map(({ body }) => body.data.invoice_number).sort();
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => `INV-${String(index + 1).padStart(4, '0')}`));
    expect(await audit()).toMatchObject({ gapless: true, kinds: { invoice: { drawn: 200, live: 200 } } });
    const events = await Event.find({ account_id: account.id }).sort({ sequence: 1 }).lean();
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  });

  test('when creates, rejections, deletes and quotes are mixed through both, then each sequence is gapless', async () => {
    const paths = ['/api/v1/invoices', '/api/v1/quotes'];
    const replies = await Promise.all(
      Array.from({ length: 120 }, (_, index) => {
        const isRejected = index % 5 === 0;
        const body = isRejected ? { ...invoice(), client_id: '0192e0a0-0000-7000-8000-000000000000' } : invoice();
        return send(index, 'POST', paths[index % 3 === 0 ? 1 : 0] as string, body);
      }),
    );
    const drafts = replies.filter(({ status, body }) => status === 201 && body.data.invoice_number).slice(0, 20);
    const removals = await Promise.all(
      drafts.map(({ body }, index) => send(index, 'DELETE', `/api/v1/invoices/${body.data.id}`)),
    );

    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 404]));
    expect(removals.map(({ status }) => status)).toEqual(drafts.map(() => 200));
    const { gapless, kinds } = await audit();
    expect(gapless).toBe(true);
    expect(kinds.invoice.deleted).toBe(20);
    expect(kinds.invoice.drawn + kinds.quote.drawn).toBe(replies.filter(({ status }) => status === 201).length);
  });
});

describe('the profile', () => {
  test('when it was changed through one gateway, then the other computes and freezes documents from the new one', async () => {
    expect((await send(1, 'GET', '/api/v1/clients')).status).toBe(200); // Now it has cached the old profile.
    const profile = { default_tax_rate: 19, bank_details: 'The new bank', project_statuses: ['New'] };
    expect((await send(0, 'PATCH', '/api/v1/account', profile)).status).toBe(200);
    const replies = [
      await send(1, 'POST', '/api/v1/invoices', { ...invoice(), status: 'Sent' }),
      await send(1, 'POST', '/api/v1/quotes', { client_id, amount: 10, status: 'Sent' }),
      await send(1, 'POST', '/api/v1/projects', { client_id, name: 'Site', status: 'New' }),
    ];

    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    for (const { body } of replies.slice(0, 2)) expect(body.data.tax_rate).toBe(19);
    const { parties } = (await Invoice.findOne({ account_id: account.id }).lean()) as InvoiceRecord;
    expect(parties?.issuer.bank_details).toBe('The new bank');
  });
});

describe('tasks', () => {
  test('when time is logged on a task while the other gateway deletes it, then no entry is left without its task', async () => {
    const project = await send(0, 'POST', '/api/v1/projects', { client_id, name: 'Site' });
    const project_id = project.body.data.id;
    for (let round = 0; round < 20; round += 1) {
      const task_id = (await send(0, 'POST', '/api/v1/tasks', { project_id, name: 'Design' })).body.data.id;
      const entry = { project_id, task_id, hours: 1, date: '2026-01-02' };
      const [removed, ...logged] = await Promise.all([
        send(1, 'DELETE', `/api/v1/tasks/${task_id}`),
        ...Array.from({ length: 5 }, () => send(0, 'POST', '/api/v1/time-entries', entry)),
      ]);

      expect(removed.status).toBe(200);
      for (const { status } of logged) expect([201, 404]).toContain(status);
      expect((await send(0, 'GET', `/api/v1/time-entries?task_id=${task_id}`)).body.pagination.total).toBe(0);
    }
  });
});

describe('budgets', () => {
  test('when both log time on a project and a task at once, then no hour is lost and each threshold is announced once', async () => {
    const made = { client_id, name: 'Site', budget_hours: 10, budget_amount: 1000, hourly_rate: 100 };
    const project_id = (await send(0, 'POST', '/api/v1/projects', made)).body.data.id;
    const task = { project_id, name: 'Design', budget_hours: 10 };
    const task_id = (await send(0, 'POST', '/api/v1/tasks', task)).body.data.id;
    const entry = { project_id, task_id, hours: 1, date: '2026-01-02' };
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, index) => send(index, 'POST', '/api/v1/time-entries', entry)),
    );

    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 201));
    const { budget } = (await send(1, 'GET', `/api/v1/projects/${project_id}`)).body.data;
    expect(budget).toMatchObject({ hours_used: 12, hours_percent: 120, amount_used: 1200, amount_percent: 120 });
    const events = await Event.find({ account_id: account.id, type: /budget_reached$/ }).lean();
    const announced = events.map(({ type, body }) => {
      const { budget: kind, threshold } = JSON.parse(body).data.reached;
      return `${type} ${kind} ${threshold}`;
    });
    expect(announced.toSorted()).toEqual([
      'project.budget_reached amount 100',
      'project.budget_reached amount 80',
      'project.budget_reached hours 100',
      'project.budget_reached hours 80',
      'task.budget_reached hours 100',
      'task.budget_reached hours 80',
    ]);
  });
});

describe('Idempotency-Key', () => {
  test('when 50 requests have one key, through both, then there is one effect and one response', async () => {
    const headers = { 'Idempotency-Key': 'fifty' };
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => send(index, 'POST', '/api/v1/invoices', invoice(), headers)),
    );
    const made = replies.filter(({ status }) => status === 201);

    // One that comes while the first still runs gets 409; on a slow machine all may come later.
    expect(replies.map(({ status }) => status).filter((status) => status !== 201 && status !== 409)).toEqual([]);
    expect(new Set(made.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(made.filter(({ headers: answered }) => !answered.get('Idempotent-Replayed'))).toHaveLength(1);
    for (const { body, headers: answered } of replies.filter(({ status }) => status === 409)) {
      expect(body).toEqual(expect.objectContaining({ error: 'A request with this Idempotency-Key is still running' }));
      expect(answered.get('Retry-After')).toBe('1');
    }
    expect(await Invoice.countDocuments({ account_id: account.id })).toBe(1);
    expect(await audit()).toMatchObject({ gapless: true, kinds: { invoice: { drawn: 1 } } });
  });

  test('when two accounts use one key, then each has its own effect; another body is 422 on every gateway', async () => {
    const headers = { 'Idempotency-Key': 'same' };
    const first = await send(0, 'POST', '/api/v1/clients', { name: 'One', email: 'one@example.com' }, headers);
    const other = await send(1, 'POST', '/api/v1/clients', { name: 'Two', email: 'two@example.com' }, headers);
    const again = await send(1, 'POST', '/api/v1/clients', { name: 'One', email: 'one@example.com' }, headers);
    account = await workspace.account();
    const foreign = await send(0, 'POST', '/api/v1/clients', { name: 'One', email: 'one@example.com' }, headers);

    expect([first.status, other.status, again.status, foreign.status]).toEqual([201, 422, 201, 201]);
    expect(again.body).toEqual(first.body);
    expect(foreign.body.data.id).not.toBe(first.body.data.id);
  });

  test.each(['', 'x'.repeat(256), 'with blank', 'ümlaut'])('when the key is %j, then 400', async (key) => {
    // fetch does not send what is not Latin-1, and drops an empty header: the value that arrives is validated.
    const reply = await send(0, 'POST', '/api/v1/invoices', invoice(), { 'Idempotency-Key': key });

    expect(reply.status).toBe(400);
  });

  test('when a request is rejected, then its key is not used up', async () => {
    const headers = { 'Idempotency-Key': 'retry' };
    const rejected = await send(0, 'POST', '/api/v1/invoices', { ...invoice(), amount: -1 }, headers);

    expect(rejected.status).toBe(400);
    expect((await send(1, 'POST', '/api/v1/invoices', invoice(), headers)).status).toBe(201);
  });
});

describe('payments', () => {
  test('when two calls with the same external_id arrive at once, one at each gateway, then there is one payment and both get 2xx', async () => {
    const body = { client_id, amount: 100, external_id: 'tr_17' };
    for (let round = 0; round < 10; round += 1) {
      const call = { ...body, external_id: `tr_17_${round}` };
      const replies = await Promise.all([0, 1].map((gateway) => send(gateway, 'POST', '/api/v1/payments', call)));
      expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 201]);
      expect(new Set(replies.map(({ body: { data } }) => data.id)).size).toBe(1);
    }
    expect((await send(0, 'GET', '/api/v1/payments')).body.pagination.total).toBe(10);
  });
});

describe('crashes', () => {
  test('when the gateway dies after the number of an invoice from time was drawn, then there is no invoice, no number and no billed entry', async () => {
    const project = await send(0, 'POST', '/api/v1/projects', { client_id, name: 'Site', hourly_rate: 100 });
    const entry = { project_id: project.body.data.id, hours: 1, date: '2026-01-02' };
    for (let count = 0; count < 3; count += 1) await send(0, 'POST', '/api/v1/time-entries', entry);
    const dying = await spawnGateway(
      workspace,
      account.key,
      watchedService({ when: 'after', step: 'findAndModify counters' }),
    );
    const options = { key: account.key, body: { client_id } };
    await expect(dying.send('POST', '/api/v1/invoices/from-time', options)).rejects.toThrow();
    await dying.exited;

    const own = { account_id: account.id };
    expect(await Invoice.countDocuments(own)).toBe(0);
    expect(await NumberLedger.countDocuments(own)).toBe(0);
    expect(await Event.countDocuments({ ...own, type: 'invoice.created' })).toBe(0);
    expect((await send(0, 'GET', '/api/v1/time-entries?billing=unbilled')).body.pagination.total).toBe(3);
    const billed = await send(1, 'POST', '/api/v1/invoices/from-time', { client_id });
    expect(billed.body.data).toMatchObject({ invoice_number: 'INV-0001', amount: 300 });
    expect((await audit()).gapless).toBe(true);
  });
});
