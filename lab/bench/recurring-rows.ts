// Recurring invoices beside the bare driver, and a morning of two schedulers beside as many creates over HTTP.
import { runRecurring } from '#libs/billing/recurring/run-recurring.ts';
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import type { RecurringInvoiceRecord } from '#libs/models/billing/recurring-invoice.ts';
import { countMade, openRecurringWorld } from '../../test/support/recurring/recurring-world.ts';
import { startFleet } from '../../test/support/recurring/scheduler-fleet.ts';
import { inTurn, timed } from './billing-calls.ts';
import { burst } from './load.ts';
import { progress } from './progress.ts';
import { runBare } from './recurring-floor.ts';
import { type Row, row } from './rows.ts';
import type { ServerProcess } from './server-process.ts';

const FIRST = '2031-01-31';
const MORNING = new Date('2031-02-01T12:00:00Z');
const RUNS_WARMING = 100;
const RUNS_TIMED = 300;
const DUE = 10_000;
const ACCOUNTS = 16;
const CREATES_SECONDS = 10;
const WARMING_SECONDS = 5;

export async function recurringRun(): Promise<Row> {
  progress('billing: recurring runs');
  const world = await openRecurringWorld({ accounts: 2, definitions: 2, first: FIRST });
  const [ours, bare] = world.definitions as [RecurringInvoiceRecord, RecurringInvoiceRecord];
  const unit = { accountId: String(ours.account_id), by: { type: 'schedule' } as const };
  const [oursMs, floorMs] = await inTurn(
    { warming: RUNS_WARMING, count: RUNS_TIMED },
    {
      ours: () =>
        timed(() => runUnitOfWork(unit, (work) => runRecurring(work, ours._id, { isByHand: true, at: MORNING }))),
      floor: (round) => timed(() => runBare(String(bare.account_id), bare._id, round)),
    },
  );
  return row('a recurring run', '/s', 1_000 / oursMs, 1_000 / floorMs, ['≥', 0.4]);
}

/** The floor is the bench's row "create invoices, 16 accounts": the gateway, over as many connections. */
export async function recurringMorning(gateway: ServerProcess, uri: string): Promise<Row> {
  progress(`billing: ${DUE} recurring invoices by two schedulers`);
  const world = await openRecurringWorld({ accounts: ACCOUNTS, definitions: DUE, first: FIRST });
  const fleet = await startFleet(uri, 2);
  let seconds: number;
  try {
    const begun = performance.now();
    fleet.setTime(MORNING);
    while ((await countMade(world)) < DUE) await fleet.idle();
    seconds = (performance.now() - begun) / 1_000;
  } finally {
    fleet.stop();
  }
  progress('billing: creates over HTTP');
  const keys = await Promise.all(
    world.accounts.map(async (accountId) => (await issueApiKey({ accountId, name: 'bench', scopes: ['*'] })).key),
  );
  const bodies = world.accounts.map((id) => {
    const client = world.definitions.find(({ account_id }) => String(account_id) === id)?.client_id;
    return JSON.stringify({ client_id: client, amount: 120.5, due_date: '2099-12-31', description: 'Drawings' });
  });
  const work = { name: 'create invoices', method: 'POST' as const, keys, paths: ['/api/v1/invoices'], bodies };
  await burst(gateway, work, { seconds: WARMING_SECONDS });
  const { perSecond } = await burst(gateway, work, { seconds: CREATES_SECONDS });
  const name = `${DUE.toLocaleString('en')} recurring invoices by two schedulers, and as many creates`;
  return row(name, 's', seconds, DUE / perSecond, ['≤', 1.5]);
}
