// How the connection to MongoDB handles errors of the server, which the server itself is made to return.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import mongoose, { type ClientSession } from 'mongoose';
import { Client } from '#libs/models/accounts/client.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { isOutOfTime, isUnavailable } from '#libs/mongo/errors.ts';
import { retryWhileUnavailable } from '#libs/mongo/retry-while-unavailable.ts';
import { NOT_PRIMARY, withErrors } from '../../support/mongodb-errors.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const STEPPED_DOWN = 11_602;
const INTERRUPTED = 11_601;
const OUT_OF_TIME = 50;
const NO_SUCH_TRANSACTION = 251;

let workspace: Workspace;

beforeEach(async () => {
  workspace = await openWorkspace();
});
afterEach(async () => {
  await workspace.close();
});

const newClient = () => ({
  _id: storedId(newId()),
  account_id: storedId(newId()),
  name: 'Ada',
  email: 'a@example.com',
  search: '',
});

const readOne = async () => Client.findOne({ account_id: newId() });

/** @returns how many are stored. */
async function storeOne(): Promise<number> {
  const client = newClient();
  await inTransaction(async (session) => {
    await Client.collection.insertOne(client as never, { session });
  });
  return Client.collection.countDocuments({ _id: client._id } as never);
}

test.each([NOT_PRIMARY, STEPPED_DOWN])(
  'when a read fails with %i again and again, then the store counts as unavailable',
  async (errorCode) => {
    const error = await withErrors({ times: 5, failCommands: ['find'], errorCode }, readOne).catch(
      (problem: unknown) => problem,
    );

    expect(isUnavailable(error)).toBe(true);
  },
);

test('when the store is unavailable for a while, then waiting work is done once it is available', async () => {
  const outage = { times: 6, failCommands: ['find'], errorCode: NOT_PRIMARY };

  expect(await withErrors(outage, () => retryWhileUnavailable(readOne))).toBeNull();
});

test('when the store rejects a query, then the work fails at once', async () => {
  const wrong = jest.fn(() => Client.collection.findOne({ $nonsense: 1 } as never));

  await expect(retryWhileUnavailable(wrong)).rejects.toThrow('$nonsense');
  expect(wrong).toHaveBeenCalledTimes(1);
});

describe('when another transaction has written the same record', () => {
  /** Writes in a transaction of its own, and leaves it open. */
  async function openConflict() {
    const client = newClient();
    await Client.collection.insertOne(client as never);
    const write = (session: ClientSession, name: string) =>
      Client.collection.updateOne({ _id: client._id } as never, { $set: { name } }, { session });
    const first = mongoose.connection.getClient().startSession();
    first.startTransaction();
    await write(first, 'held');
    return { first, second: () => inTransaction((session) => write(session, 'second')), client };
  }
  const nameOf = async ({ _id }: { _id: unknown }) => (await Client.collection.findOne({ _id } as never))?.['name'];

  test('and was abandoned, then it is aborted, and the second one continues', async () => {
    const { first, second, client } = await openConflict();

    await second();

    await expect(first.commitTransaction()).rejects.toThrow();
    expect(await nameOf(client)).toBe('second');
    await first.endSession();
  });

  test('and is active with pauses, then the second one waits for it', async () => {
    const { first, second, client } = await openConflict();
    const waiting = second();

    for (let step = 0; step < 30; step += 1) {
      await pause(100);
      await Client.collection.findOne({ _id: client._id } as never, { session: first });
    }

    await first.commitTransaction();
    await first.endSession();
    await waiting;
    expect(await nameOf(client)).toBe('second');
  });
});

test('when MongoDB exceeds its time limit, then the error says so, and the store does not count as unavailable', async () => {
  const error = await withErrors({ failCommands: ['find'], errorCode: OUT_OF_TIME }, readOne).catch(
    (problem: unknown) => problem,
  );

  expect([isOutOfTime(error), isUnavailable(error)]).toEqual([true, false]);
});

test('when no server is found for many writes at once, then the store counts as unavailable', async () => {
  const client = new mongoose.mongo.MongoClient('mongodb://127.0.0.1:9', { serverSelectionTimeoutMS: 100 });
  const clients = client.db('nowhere').collection('clients');
  const problemOf = () => clients.insertMany([newClient() as never]).catch((problem: unknown) => problem);
  const errors = [await problemOf(), await problemOf()]; // The first error is that of the failed connection.
  await client.close();

  expect(errors.map((error) => isUnavailable(error))).toEqual([true, true]);
});

test('when a query is invalid, then the store does not count as unavailable', async () => {
  const error = await Client.collection.findOne({ $nonsense: 1 } as never).catch((problem: unknown) => problem);

  expect(error).toBeInstanceOf(Error);
  expect(isUnavailable(error)).toBe(false);
});

test.each([
  ['is lost', { closeConnection: true }],
  ['says that the server steps down', { errorCode: STEPPED_DOWN }],
  ['says that it was interrupted', { errorCode: INTERRUPTED }],
  ['says that there is no such transaction, without a majority', { errorCode: NO_SUCH_TRANSACTION, errorLabels: [] }],
])('when the response to a commit %s, then the commit is retried', async (_what, failure) => {
  const stored = await withErrors({ failCommands: ['commitTransaction'], ...failure }, storeOne);

  expect(stored).toBe(1);
});

test('when the driver fails on the error of a commit, then the commit is retried', async () => {
  const client = newClient();
  await inTransaction(async (session) => {
    await Client.collection.insertOne(client as never, { session });
    // The driver looks for labels on the error of the socket, which has none.
    const driverError = new TypeError('error.hasErrorLabel is not a function');
    jest.spyOn(session, 'commitTransaction').mockRejectedValueOnce(driverError);
  });

  expect(await Client.collection.countDocuments({ _id: client._id } as never)).toBe(1);
});

test.each([
  ['is interrupted', { errorCode: INTERRUPTED }],
  ['meets a connection that ends', { closeConnection: true }],
])('when a statement of a transaction %s, then the transaction starts again', async (_what, failure) => {
  const stored = await withErrors({ failCommands: ['insert'], ...failure }, storeOne);

  expect(stored).toBe(1);
});

test('when a statement fails on a connection that the driver has already closed, then the transaction is retried', async () => {
  let times = 0;
  const result = await inTransaction(async () => {
    times += 1;
    if (times === 1) throw new mongoose.mongo.MongoNetworkError('connection 1 to 127.0.0.1:27017 closed'); // Without a label.
    return times;
  });

  expect(result).toBe(2);
});

test('when the clock is set back by an hour while a write has conflicts, then the write fails within seconds, not after an hour', async () => {
  const right = Date.now();
  const clock = jest.spyOn(Date, 'now').mockReturnValue(right);
  const conflicts = { failCommands: ['insert'], errorCode: 112, errorLabels: ['TransientTransactionError'] };
  try {
    const storing = withErrors({ times: 1_000, ...conflicts }, () => {
      const stored = storeOne();
      clock.mockReturnValue(right - 3_600_000);
      return stored;
    });
    await expect(storing).rejects.toMatchObject({ status: 503 });
  } finally {
    clock.mockRestore();
  }
});
