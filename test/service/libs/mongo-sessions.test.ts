// How much memory the MongoDB driver keeps for queries that ended long ago.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { forgetEnded } from '#libs/mongo/driver-sessions.ts';
import { keptBytes } from '../../support/kept-bytes.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

const queryProgram = (before = '') => `
import mongoose from 'mongoose';
import { connectMongo } from '#libs/mongo/connection.ts';
await connectMongo(process.env.URI, { log: { info() {}, warn() {} } });
const client = mongoose.connection.getClient();
const records = client.db().collection('asked_for');
await records.deleteMany();
await records.insertMany(Array.from({ length: 20 }, () => ({ text: 'x'.repeat(100) })));
${before}
console.log(await keptOf(2_000, () => records.find().toArray()));
process.exit();
`;

test('when thousands of queries have ended, then nothing of them stays in memory', async () => {
  const env = { URI: workspace.mongodbUri };
  expect(await keptBytes(queryProgram(), env)).toBeLessThan(2_000);
  // With the driver's own Set the results stay in memory, twenty documents each.
  expect(await keptBytes(queryProgram('client.s.activeSessions = new Set();'), env)).toBeGreaterThan(5_000);
}, 240_000);

test('when the client is closed, then open sessions and cursors are closed', async () => {
  const client = await new mongoose.mongo.MongoClient(workspace.mongodbUri).connect();
  const before = client.startSession();
  forgetEnded(client);
  const after = client.startSession();
  const ended = client.startSession();
  await ended.endSession();
  const records = client.db().collection('asked_for');
  await records.insertMany([{}, {}, {}]);
  const cursor = records.find({}, { batchSize: 1 });
  await cursor.next();

  await client.close();

  expect([before, after, ended].map(({ hasEnded }) => hasEnded)).toEqual([true, true, true]);
  expect(cursor.closed).toBe(true);
});
