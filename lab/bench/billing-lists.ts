// An account with hundreds of thousands of records of each kind beside one with a thousand: first pages, and time that is too much for an invoice.
import mongoose from 'mongoose';
import { BILLED_ENTRIES_MAX } from '#libs/billing/work/find-unbilled-time.ts';
import { storedId } from '#libs/models/tenant.ts';
import { call, inTurn, timed } from './billing-calls.ts';
import { type BillingAccount, fillBilling } from './billing-data.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';
import type { ServerProcess } from './server-process.ts';

const READS_WARMING = 10;
const READS_TIMED = 60;
const REFUSALS_TIMED = 15;

const LISTS = ['invoices', 'invoices?status=Sent', 'invoices?status=Overdue', 'time-entries', 'payments'] as const;

export interface Listed {
  small: BillingAccount;
  large: BillingAccount;
  many: number;
}

export async function fillLists(many: number): Promise<Listed> {
  const small = await fillBilling({ clients: 20, entriesEach: 50, invoicesEach: 50, payments: 1_000 });
  // All of one client, whose time is too much for an invoice.
  const large = await fillBilling({ clients: 1, entriesEach: many, invoicesEach: many, payments: many });
  return { small, large, many };
}

/** The floor is the same list of an account of 1,000. */
export async function lists(gateway: ServerProcess, { small, large, many }: Listed): Promise<Row[]> {
  const rows: Row[] = [];
  for (const list of LISTS) {
    progress(`billing: first page of ${list}`);
    const path = `${list}${list.includes('?') ? '&' : '?'}limit=50`;
    const both = await inTurn(
      { warming: READS_WARMING, count: READS_TIMED },
      { ours: () => call(gateway, large, path), floor: () => call(gateway, small, path) },
    );
    rows.push(row(`first page of ${many.toLocaleString('en')}, ${list}`, 'ms', ...both, ['≤', 3]));
  }
  return rows;
}

/** All of the account's time is asked for: 409, after as few entries as show that it is too much. The floor reads as many. */
export async function refusal(gateway: ServerProcess, { large, many }: Listed): Promise<Row[]> {
  progress('billing: too much time for an invoice');
  const [client] = large.clients;
  const { db } = mongoose.connection;
  if (!client || !db) throw new Error('there is no client');
  const entries = db.collection('time_entries');
  const filter = { account_id: storedId(large.id), invoice_id: null, project_id: client.project };
  const [ours, floor] = await inTurn(
    { warming: 3, count: REFUSALS_TIMED },
    {
      ours: () => call(gateway, large, 'invoices/from-time', { client_id: String(client.id) }, 409),
      floor: () =>
        timed(() =>
          entries.find(filter, { limit: BILLED_ENTRIES_MAX + 1, batchSize: BILLED_ENTRIES_MAX + 2 }).toArray(),
        ),
    },
  );
  await db.command({ profile: 2 });
  await call(gateway, large, 'invoices/from-time', { client_id: String(client.id) }, 409);
  await db.command({ profile: 0 });
  const seen = await db.collection('system.profile').findOne({ op: 'query', ns: `${db.databaseName}.time_entries` });
  const what = `${many.toLocaleString('en')} entries for one invoice: 409`;
  return [
    row(what, 'ms', ours, floor),
    row(`${what}, entries read`, '', Number(seen?.['docsExamined'] ?? Number.NaN), BILLED_ENTRIES_MAX + 1, ['≤', 1]),
  ];
}
