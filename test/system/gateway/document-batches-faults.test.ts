// A batch of documents is finished and announced once, whatever is killed or flushed meanwhile, and does not delay waiting callers.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { renderDocument } from '#libs/jobs/catalog.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { BatchFile } from '#libs/models/documents/batch-file.ts';
import { DocumentBatch } from '#libs/models/documents/document-batch.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { eventually } from '../../support/eventually.ts';
import type { AnyRecord } from '../../support/records.ts';
import { type Send, spawnGateway } from '../../support/spawn-gateway.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';
import { testLog } from '../../support/workspace.ts';

const path = '/api/v1/documents';
/** Only ends a hang: the lease of a killed gateway runs for 20 s. */
const FINISHED_LIMIT_MS = 150_000;
/** So many that a batch is never finished before the fault. */
const MANY = 24;
/** A gateway that stops in order goes on while callers of its documents wait. */
const MANY_MORE = 100;

let system: TestSystem;
let invoices: string[];
/** Sends to the gateway that runs now. */
let send: Send;
let queues: Queues;
const successors: { stop(): Promise<unknown> }[] = [];
beforeAll(async () => {
  system = await startSystem();
  send = system.call;
  const { redisUrl, redisPrefix } = system.workspace;
  queues = openQueues({ redisUrl, prefix: redisPrefix, log: testLog });
  const client = await make('clients', { name: 'Ada Lovelace', email: 'ada@client.example' });
  const body = { client_id: client.id, due_date: '2099-12-31', amount: 100, description: 'Work', status: 'Sent' };
  invoices = [];
  for (let count = 0; count < MANY_MORE; count += 1) invoices.push((await make('invoices', body)).id);
});
afterAll(async () => {
  await queues.close();
  for (const gateway of successors) await gateway.stop();
  await system.close();
});

async function make(resource: string, body: object): Promise<AnyRecord> {
  const reply = await send('POST', `/api/v1/${resource}`, { body });
  if (reply.status >= 300) throw new Error(`${resource}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body.data;
}

/** The look is not the standard one, in which the originals of the batch before would be read instead of printed. */
const startBatch = (count = MANY) =>
  make('documents', { documents: invoices.slice(0, count).map((id) => ({ type: 'invoice', id })), style: 'modern' });

/** Read from the database, because no gateway may be running. */
const stored = async (id: string): Promise<AnyRecord> =>
  DocumentBatch.findOne({ _id: id, account_id: system.account.id }).lean();

const underWay = (id: string) => eventually(async () => (await stored(id)).done > 0, FINISHED_LIMIT_MS);

async function expectFinished(id: string, total: number) {
  const batch = await eventually(async () => {
    const record = await stored(id);
    return record.completed_at && record;
  }, FINISHED_LIMIT_MS);
  expect(batch).toMatchObject({ status: 'done', done: total, failed: 0 });
  expect(await BatchFile.countDocuments({ account_id: system.account.id, batch_id: id })).toBe(total);
  const events = await Event.find({ account_id: system.account.id, type: 'documents.completed' }).lean();
  expect(events.filter(({ body }) => JSON.parse(body).data.id === id)).toHaveLength(1);
}

test('when Redis is flushed in the middle, then every document is printed and there is one event', async () => {
  const { id } = await startBatch();
  await underWay(id);
  await whenReady(queues.redis, FINISHED_LIMIT_MS);
  await queues.redis.flushall();
  expect((await stored(id)).completed_at).toBeUndefined();

  await expectFinished(id, MANY);
});

test(
  'when Redis is unavailable for a while, then the batch waits for it and no document fails',
  async () => {
    const { id } = await startBatch();
    await underWay(id);
    await system.redis.kill();
    // At least one attempt has failed.
    await eventually(async () => (await stored(id)).documents.some((document: AnyRecord) => document.next_at), 60_000);
    await system.redis.start();

    await expectFinished(id, MANY);
  },
  FINISHED_LIMIT_MS + 60_000,
);

test('when no renderer takes jobs, then few documents of a batch are queued, behind those that a caller waits for', async () => {
  const [renderer] = system.renderers;
  const queue = queues.raw(renderDocument);
  await whenReady(queues.redis, FINISHED_LIMIT_MS);
  // Stopped while it is idle: jobs that are enqueued from now on stay in the queue.
  await eventually(async () => (await queues.counts(renderDocument)).active === 0);
  renderer?.kill('SIGSTOP');
  const leaving = new AbortController();
  try {
    const { id } = await startBatch(20);
    await eventually(async () => (await queue.getJobCountByTypes('prioritized')) > 0);
    const waiting = fetch(`${system.gateway.url}/api/v1/invoices/${invoices[0]}/pdf`, {
      headers: { Authorization: `Bearer ${system.account.key}` },
      signal: leaving.signal,
    }).catch(() => undefined);
    // BullMQ takes all waiting jobs before any prioritized one.
    await eventually(async () => (await queue.getJobCountByTypes('waiting')) === 1);
    expect(await queue.getJobCountByTypes('prioritized')).toBeLessThanOrEqual(2);
    leaving.abort();
    await waiting;
    expect((await send('DELETE', `${path}/${id}`)).status).toBe(200);
  } finally {
    renderer?.kill('SIGCONT');
  }
});

test('when the gateway that prints a batch is killed, then another one finishes it, and there is one event', async () => {
  const { id } = await startBatch();
  await underWay(id);
  system.gateway.kill('SIGKILL');
  await system.gateway.exited;
  const left = await stored(id);
  expect([left.completed_at, left.done < MANY]).toEqual([undefined, true]);

  const other = await spawnGateway(system.workspace, system.account.key);
  successors.push(other);
  send = other.send;
  await expectFinished(id, MANY);
  const archive = await send('GET', `${path}/${id}/archive`);
  expect([archive.status, archive.headers.get('Content-Type')]).toEqual([200, 'application/zip']);
});

test('when a gateway is stopped in the middle, then it releases the batch at once and another one finishes it', async () => {
  const { id } = await startBatch(MANY_MORE);
  await underWay(id);
  const [stopping] = successors;
  await stopping?.stop();
  const left = await stored(id);
  expect([left.completed_at, left.lease_id]).toEqual([undefined, undefined]);
  expect(left.due_at.getTime()).toBeLessThanOrEqual(Date.now());

  const other = await spawnGateway(system.workspace, system.account.key);
  successors.push(other);
  send = other.send;
  await expectFinished(id, MANY_MORE);
});
