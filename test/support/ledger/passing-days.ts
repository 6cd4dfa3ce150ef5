// Days that pass for the records of an account, the balance of each and the statements between them: every stored day is moved one back, not the clock.
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

/**
 * Checks the statement of account between any two of the last days, also one before anything happened.
 * @returns a sentence for each that does not begin or end with the balance of its days, or does not add up.
 */
export async function wrongStatements(world: LedgerWorld): Promise<string[]> {
  const today = dayIn('UTC');
  const days = Array.from({ length: world.memory.length + 2 }, (_, back) => addDays(today, -back)).toReversed();
  const balances = new Map<string, number>();
  for (const day of days) balances.set(day, await netOf(world, day));
  const broken: string[] = [];
  for (const [index, from] of days.entries()) {
    for (const to of days.slice(index)) {
      const opening = balances.get(addDays(from, -1)) ?? 0;
      broken.push(...(await wrongIn(world, { from, to, opening, closing: balances.get(to) ?? 0 })));
    }
  }
  return broken;
}

/** Returns the balance in cents: the amount due less the credit. */
async function netOf({ send, client_id }: LedgerWorld, day: string): Promise<number> {
  const { body } = await send('GET', `/clients/${client_id}/balance?as_of=${day}`);
  const [balance] = body.data.balances as AnyRecord[];
  return cents(balance?.due ?? 0) - cents(balance?.credit ?? 0);
}

async function wrongIn(
  { send, client_id }: LedgerWorld,
  { from, to, opening, closing }: { from: string; to: string; opening: number; closing: number },
): Promise<string[]> {
  const name = `statement from ${from} to ${to}`;
  const { status, body } = await send('GET', `/reports/statement?client_id=${client_id}&from=${from}&to=${to}`);
  if (status !== 200) return [`${name}: ${status} ${JSON.stringify(body)}`];
  const [statement, ...others] = body.data.statements as AnyRecord[];
  const { opening_balance = 0, closing_balance = 0, debits = 0, credits = 0, rows = [] } = statement ?? {};
  let balance = cents(opening_balance);
  const wrongRows = (rows as AnyRecord[]).filter((row) => {
    balance += cents(row.debit) - cents(row.credit);
    return balance !== cents(row.balance) || row.date < from || row.date > to;
  });
  return [
    ...(others.length > 0 ? [`${name}: has ${others.length} other currencies`] : []),
    ...(cents(opening_balance) === opening ? [] : [`${name}: begins with ${opening_balance}, not ${opening} cents`]),
    ...(cents(closing_balance) === closing ? [] : [`${name}: ends with ${closing_balance}, not ${closing} cents`]),
    ...(opening + cents(debits) - cents(credits) === closing ? [] : [`${name}: ${debits} less ${credits}`]),
    ...(balance === closing ? [] : [`${name}: its rows end with ${balance} cents, not ${closing}`]),
    ...wrongRows.map((row) => `${name}: ${JSON.stringify(row)}`),
  ];
}

const cents = (amount: number) => Math.round(amount * 100);

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
