// O1: every acknowledged write is there with the content that was acknowledged; what stayed unknown is there once or not at all.
import mongoose from 'mongoose';
import { storedId } from '#libs/models/tenant.ts';
import type { RoundFacts } from '../round-facts.ts';
import { COLLECTIONS, type Collection, type ExpectedRecord, PATHS, TEXT_FIELD } from './expected-records.ts';

type Stored = Record<string, unknown> & { _id: unknown };

/** Records that are read again and compared field by field. It takes a second or two. */
const READ_AGAIN_MAX = 100;

export async function judgeRecords(facts: RoundFacts): Promise<void> {
  const { load, accounts } = facts;
  const expected = Map.groupBy(load.records.records, ({ account, collection }) => `${account.id} ${collection}`);
  for (const account of accounts) {
    for (const collection of COLLECTIONS) {
      const stored = await allOf(collection, account.id);
      judgeCollection(facts, collection, expected.get(`${account.id} ${collection}`) ?? [], stored);
    }
  }
  await readAgain(facts);
}

/** Straight from the driver: the product's own queries are what is judged. */
export async function allOf(collection: string, accountId: string): Promise<Stored[]> {
  const found = mongoose.connection.collection(collection).find({ account_id: storedId(accountId) } as object);
  return (await found.toArray()) as unknown as Stored[];
}

function judgeCollection(
  { journal }: RoundFacts,
  collection: Collection,
  expected: readonly ExpectedRecord[],
  stored: readonly Stored[],
) {
  const field = TEXT_FIELD[collection];
  // The token is the text up to its dot.
  const byToken = Map.groupBy(stored, (record) => `${String(record[field]).split('.')[0]}.`);
  for (const record of expected) {
    const { token, presence, texts, id } = record;
    const found = byToken.get(token) ?? [];
    byToken.delete(token);
    const [one] = found;
    const what = `${collection} ${token} (${presence}, key ${record.key})`;
    if (found.length > 1) journal.breach('O1', `${what} is there ${found.length} times`);
    else if (!one && presence === 'stored') journal.breach('O1', `${what} is lost`);
    else if (one && presence === 'deleted') journal.breach('O1', `${what} is there again`);
    else if (one && presence === 'refused') journal.breach('O1', `${what} is there although nothing was to be stored`);
    else if (one && !texts.includes(String(one[field]))) journal.breach('O1', `${what} says ${String(one[field])}`);
    else if (one && id && String(one._id) !== id) journal.breach('O1', `${what} has another id`);
  }
  for (const token of byToken.keys()) journal.breach('O1', `${collection} ${token} was never asked for`);
}

async function readAgain({ load, journal }: RoundFacts): Promise<void> {
  const known = load.records.records.filter(({ presence, acknowledged }) => presence === 'stored' && acknowledged);
  for (const record of known.slice(-READ_AGAIN_MAX)) {
    const { account, collection, id, acknowledged } = record;
    const path = `${PATHS[collection]}/${id}`;
    const answer = await load.ask({ account, kind: 'records', method: 'GET', path });
    const data = answer?.body?.data as Record<string, unknown> | undefined;
    if (!data) {
      journal.breach('O1', `GET ${path} is answered with ${answer?.status} ${answer?.bytes}`);
      continue;
    }
    // Others may have changed what is embedded, and counted.
    const own = Object.entries(acknowledged ?? {}).filter(([, value]) => typeof value !== 'object' || value === null);
    const changed = own.filter(([name, value]) => !DERIVED.has(name) && data[name] !== value);
    if (changed.length > 0)
      journal.breach('O1', `${path} was acknowledged with other ${changed.map(([name]) => name).join(', ')}`);
  }
}

/** Sums over other records. */
const DERIVED = new Set(['total_seconds', 'total_hours', 'total_amount']);
