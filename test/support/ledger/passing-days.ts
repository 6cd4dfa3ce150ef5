// Days that pass for the records of an account, and the balance of each: every stored day is moved one back, not the clock.
import mongoose from 'mongoose';
import { addDays, dayIn } from '#libs/day.ts';
import { recount } from '#libs/models/recount.ts';
import { storedId } from '#libs/models/tenant.ts';
import type { AnyRecord } from '../crashes/billing-world.ts';
import type { LedgerWorld } from './ledger-world.ts';

const DATED = ['invoices', 'payments', 'credit_notes'] as const;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Ends a day: notes what the client's balance was, and moves all that happened one day into the past. */
export async function passDay(world: LedgerWorld): Promise<void> {
  world.memory.push(await balancesOf(world));
  const account_id = storedId(world.account.id);
  for (const name of DATED) {
    const collection = mongoose.connection.collection(name);
    for (const record of await collection.find({ account_id }).toArray()) {
      await collection.replaceOne({ _id: record._id, account_id }, aged(record) as object);
    }
  }
  // Counts by month of the due date: the records were moved past them.
  await recount(world.account.id);
}

/** @returns a sentence for each past day whose balance is another than it was on that day. */
export async function forgottenDays(world: LedgerWorld): Promise<string[]> {
  const today = dayIn('UTC');
  const { memory } = world;
  const broken: string[] = [];
  for (const [index, then] of memory.entries()) {
    const day = addDays(today, index - memory.length);
    const now = await balancesOf(world, `?as_of=${day}`);
    if (now !== then)
      broken.push(`balance ${memory.length - index} days ago: it was ${then}, and is ${now} as of ${day}`);
  }
  return broken;
}

/** Without the days of the sources, which were moved. */
async function balancesOf({ send, client_id }: LedgerWorld, query = ''): Promise<string> {
  const { status, body } = await send('GET', `/clients/${client_id}/balance${query}`);
  if (status !== 200) throw new Error(`balance${query}: ${status} ${JSON.stringify(body)}`);
  const balances = (body.data.balances as AnyRecord[]).map(({ credit_sources, ...balance }) => {
    return { ...balance, credit_sources: credit_sources.map(({ date: _moved, ...source }: AnyRecord) => source) };
  });
  return JSON.stringify(balances);
}

function aged(value: unknown): unknown {
  if (typeof value === 'string') return DAY.test(value) ? addDays(value, -1) : value;
  if (Array.isArray(value)) return value.map(aged);
  if (value?.constructor !== Object) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, aged(inner)]));
}
