// Connections to MongoDB that end while commands are in flight: no command may wait for a reply that never comes.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { resultWithin } from '#libs/with-timeout.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const ROUNDS = 3;
const TURNS = 20;
/** Fails the test when a command hangs. */
const RESULT_LIMIT_MS = 60_000;

let workspace: Workspace;
let server: Server;
/** The driver's connections to the proxy; for the driver, MongoDB is what ends one. */
const open = new Set<Socket>();

beforeAll(async () => {
  workspace = await openWorkspace();
  const [target] = mongoose.connection.getClient().options.hosts;
  server = createServer((caller) => {
    const callee = connect({ host: target?.host ?? '', port: target?.port ?? 0 });
    open.add(caller);
    caller.pipe(callee, { end: false });
    callee.pipe(caller);
    for (const [socket, other] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await workspace.close();
});

test.each(['none', 'zlib'])(
  'when connections end while commands begin, then each command gets a result (compression: %s)',
  async (compressors) => {
    const { port } = server.address() as AddressInfo;
    const uri = `mongodb://127.0.0.1:${port}/?directConnection=true&compressors=${compressors}`;
    const client = await new mongoose.mongo.MongoClient(uri).connect();
    const records = client.db(workspace.redisPrefix).collection('commands');
    const outcomes: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await records.findOne();
      for (const connection of open) connection.end();
      open.clear();
      const results: Promise<string>[] = [];
      for (let turn = 0; turn < TURNS; turn += 1) {
        await nextTurn();
        results.push(outcomeOf(records.findOne()), outcomeOf(records.insertOne({})));
      }
      outcomes.push(...(await Promise.all(results)));
    }
    await client.close();

    expect(outcomes).not.toContain('no answer');
    expect(outcomes).toContain('done');
  },
);

/** An error is a result, too: the driver retries a command once, and the retry may meet the next connection that ends. */
const outcomeOf = async (command: Promise<unknown>) =>
  (await resultWithin(
    RESULT_LIMIT_MS,
    command.then(
      () => 'done',
      () => 'refused',
    ),
  )) ?? 'no answer';
