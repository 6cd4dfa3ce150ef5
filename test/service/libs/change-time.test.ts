// `updated_at` follows the order of commits: a caller that reads by it misses no record, even if clocks differ or a transaction began early.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { Client, type ClientRecord, searchOf } from '#libs/models/accounts/client.ts';
import { Counter } from '#libs/models/counter.ts';
import { changeOwn, findOwn, insertOwn } from '#libs/models/records.ts';
import { newRecord } from '#libs/models/tenant.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

const HOUR_MS = 3_600_000;

function newClient(account: string, at?: Date): ClientRecord {
  const details = { name: 'Ada', email: 'ada@example.com' };
  const base = newRecord(account);
  return { ...base, ...(at ? { updated_at: at } : {}), ...details, search: searchOf(details), status: 'invited' };
}

async function stored(client: ClientRecord) {
  await inTransaction((session) => insertOwn(Client, client, session));
  return client;
}

test('when a record was made before another one was committed but is stored after it, then it has the later time', async () => {
  const { id } = await workspace.account();
  const early = newClient(id);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const other = await stored(newClient(id));

  await stored(early);

  expect(early.updated_at.getTime()).toBeGreaterThan(other.updated_at.getTime());
  expect((await findOwn(Client, id, early._id))?.updated_at).toEqual(early.updated_at);
});

test('when there is no conflict, then a new record has the same created_at and updated_at', async () => {
  const { id } = await workspace.account();
  const client = await stored(newClient(id));

  expect(client.updated_at).toEqual(client.created_at);
});

test('when the clock of another gateway is an hour ahead, then a change after its change still has a later time', async () => {
  const { id } = await workspace.account();
  const ahead = await stored(newClient(id, new Date(Date.now() + HOUR_MS)));
  const client = await stored(newClient(id));

  const changed = await inTransaction((session) => changeOwn(Client, client, { name: 'Countess' }, session));

  expect(client.updated_at.getTime()).toBe(ahead.updated_at.getTime() + 1);
  expect(changed.updated_at.getTime()).toBe(ahead.updated_at.getTime() + 2);
});

test('when a transaction changes several records, then all of them get the same time, and a retry draws a new one', async () => {
  const { id } = await workspace.account();
  let attempts = 0;
  const times = await inTransaction(async (session) => {
    const clients = [newClient(id), newClient(id)];
    for (const client of clients) await insertOwn(Client, client, session);
    attempts += 1;
    if (attempts === 1) {
      // The error that MongoDB returns for a conflict.
      const conflict = new mongoose.mongo.MongoServerError({ message: 'write conflict', code: 112 });
      conflict.addErrorLabel('TransientTransactionError');
      throw conflict;
    }
    return clients.map(({ updated_at }) => updated_at.getTime());
  });

  const counter = await Counter.findById(id).lean();
  expect(attempts).toBe(2);
  expect(times).toEqual([counter?.changed_at?.getTime(), counter?.changed_at?.getTime()]);
});
