// The last guards of the billing core, tested with stale reads, which no caller over HTTP can cause.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { moveHours } from '#libs/billing/hour-packages/draw-hours.ts';
import { moveBalance } from '#libs/billing/payments/settle-invoices.ts';
import { moveFixedAmount } from '#libs/billing/quotes/fixed-amount.ts';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { claimTime } from '#libs/billing/work/claim-time.ts';
import { type SelectedTime, selectTime } from '#libs/billing/work/select-time.ts';
import { linkTimeLines } from '#libs/billing/work/time-line-links.ts';
import { readAccount } from '#libs/models/accounts/account.ts';
import { Client } from '#libs/models/accounts/client.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { findOwn } from '#libs/models/records.ts';
import { Project } from '#libs/models/time/project.ts';
import { type BillingWorld, madeBy } from '../../support/crashes/billing-world.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { TestAccount } from '../../support/workspace.ts';

let gateway: TestGateway;
let account: TestAccount;
let world: BillingWorld;

beforeAll(async () => {
  gateway = await startGateway();
  account = await gateway.workspace.account();
  world = await madeBy(call);
});
afterAll(() => gateway.close());

async function call(method: string, path: string, body?: object) {
  return (await gateway.call(method, `/api/v1${path}`, { key: account.key, body })).body.data;
}

async function unbilled(unit: UnitOfWork): Promise<SelectedTime[]> {
  const client = await findOwn(Client, account.id, world.client_id, unit.session);
  if (!client) throw new Error('the client is missing');
  const selection = { date_to: '2099-01-01', missing_rate: 'refuse' } as const;
  return selectTime(unit, { selection, client, account: await readAccount(account.id), most: 10 });
}

async function stored(unit: UnitOfWork, id: string): Promise<InvoiceRecord> {
  const invoice = await findOwn(Invoice, account.id, id, unit.session);
  if (!invoice) throw new Error('the invoice is missing');
  return invoice;
}

const work = <Result>(of: (unit: UnitOfWork) => Promise<Result>) =>
  runUnitOfWork({ accountId: account.id, by: { type: 'operator' } }, of);
const invoiceOf = async (id: string) => (await call('GET', `/time-entries/${id}`)).invoice?.id;

test('when an entry is billed after it was read as unbilled, then the claim starts again and takes the others', async () => {
  const [taken, free] = (await world.logged(2)) as [string, string];
  const { result: stale } = await work(unbilled);
  expect(stale).toHaveLength(2);
  const first = await call('POST', '/invoices/from-time', { client_id: world.client_id, time_entry_ids: [taken] });
  const draft = await world.invoice({ status: 'Draft' });
  let attempts = 0;

  await work(async (unit) => {
    attempts += 1;
    const selected = attempts === 1 ? stale : await unbilled(unit);
    const { made } = linkTimeLines(selected, { groupBy: 'entry', locale: 'en-US', text: undefined });
    await claimTime(unit, await stored(unit, draft.id), { made, selected });
  });

  expect([attempts, await invoiceOf(taken), await invoiceOf(free)]).toEqual([2, first.id, draft.id]);
});

test('when more is credited than an invoice is worth, then the ledger rejects it, even though nothing would be due', async () => {
  const { id } = await world.invoice({ amount: 80 });
  const credited = { total: 8_001, applied: 8_000 };
  const moving = work(async (unit) =>
    moveBalance(unit, await stored(unit, id), { day: '2026-01-02', paid: 0, credited }),
  );

  await expect(moving).rejects.toThrow('would be overcredited');
  expect(await call('GET', `/invoices/${id}`)).toMatchObject({ status: 'Sent', total_credited: 0, amount_due: 80 });
});

test.each([
  ['more is paid than is due', { paid: 8_001 }],
  ['more is written off than is due', { paid: 0, writtenOff: [{ amount: 8_001, reason: 'x' }] }],
  ['more is reversed than was paid', { paid: -1 }],
])('when %s, then the ledger rejects the movement and nothing is stored', async (_what, movement) => {
  const { id } = await world.invoice({ amount: 80 });
  const moving = work(async (unit) => moveBalance(unit, await stored(unit, id), { day: '2026-01-02', ...movement }));

  await expect(moving).rejects.toThrow('would be overpaid');
  expect(await call('GET', `/invoices/${id}`)).toMatchObject({ status: 'Sent', amount_paid: 0, amount_due: 80 });
});

/** Runs `moving` once; 'refused' when the unit of work would start again because its read is stale. */
async function outcomeOf(moving: (unit: UnitOfWork) => Promise<void>): Promise<string> {
  let attempts = 0;
  const { result } = await work(async (unit) => {
    attempts += 1;
    if (attempts > 1) return 'refused';
    await moving(unit);
    return 'moved';
  });
  return result;
}

test('when more of a fixed amount is taken than is left, or more is returned than was billed, then the guard rejects it', async () => {
  const terms = { name: 'Website', client_id: world.client_id, billing: 'fixed', fixed_amount: 10 };
  const { id } = await call('POST', '/projects', terms);
  const outcomes: string[] = [];
  for (const by of [1_001, -1, 1_000, 1, -1_000]) {
    outcomes.push(
      await outcomeOf(async (unit) => {
        const project = await findOwn(Project, account.id, id, unit.session);
        if (!project) throw new Error('the project is missing');
        await moveFixedAmount(unit, project, by);
      }),
    );
  }

  expect(outcomes).toEqual(['refused', 'refused', 'moved', 'refused', 'moved']);
});

test('when more hours are drawn than a package has, or more are returned than were drawn, then the guard rejects it', async () => {
  const { id: package_id } = await call('POST', '/hour-packages', { client_id: world.client_id, hours: 1 });
  const outcomes: string[] = [];
  for (const seconds of [3_601, -1, 3_600, 1, -3_600]) {
    outcomes.push(
      await outcomeOf(async (unit) => {
        await moveHours(unit, [{ package_id, seconds }]);
      }),
    );
  }

  expect(outcomes).toEqual(['refused', 'refused', 'moved', 'refused', 'moved']);
});
