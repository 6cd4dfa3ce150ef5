// Tries and order of the documents in a batch. There are no renderers: each test defines what takes a document.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RenderDocument, renderDocument } from '#libs/jobs/catalog.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { openReplies, type Replies, sendReply } from '#libs/jobs/replies.ts';
import { type JobHandler, startWorker } from '#libs/jobs/worker.ts';
import type { ClaimedBatch } from '#libs/models/documents/batch-clock.ts';
import {
  BATCH_KEPT_MS,
  type BatchedDocument,
  type BatchRecord,
  DocumentBatch,
} from '#libs/models/documents/document-batch.ts';
import { findSetAside, RoundTry } from '#libs/models/operations/round-try.ts';
import { insertOwn } from '#libs/models/records.ts';
import { newRecord, type StoredId, storedId } from '#libs/models/tenant.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { openPrinting, type PrintDocument } from '#libs/printing/print-document.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { printSlice } from '../../../services/gateway/documents/print-slice.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { AnyRecord } from '../../support/records.ts';
import { testLog } from '../../support/workspace.ts';

/** Instead of 30 s. */
const DEADLINE_MS = 1_500;
/** One more failed try, and the document has failed. */
const TRIES = 11;
const NEVER = new AbortController().signal;
const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');

let gateway: TestGateway;
let queues: Queues;
let replies: Replies;
let print: PrintDocument;
/** With the time that a busy machine needs until a renderer has taken a document. */
let printPatiently: (deadlineMs?: number) => PrintDocument;
let invoices: AnyRecord[];

beforeAll(async () => {
  gateway = await startGateway();
  const { redisUrl, redisPrefix: prefix } = gateway.workspace;
  queues = openQueues({ redisUrl, prefix, log: testLog });
  replies = openReplies({ redis: queues.redis, redisUrl, prefix, log: testLog });
  printPatiently = (deadlineMs = 30_000) => openPrinting({ queues, replies, prefix, log: testLog, deadlineMs });
  print = printPatiently(DEADLINE_MS);
  await whenReady(queues.redis, 60_000);
  const client = await make('clients', { name: 'Ada Lovelace', email: 'ada@client.example' });
  const body = { client_id: client.id, due_date: '2099-12-31', amount: 100, description: 'Work' };
  invoices = [];
  for (let count = 0; count < 10; count += 1) invoices.push(await make('invoices', body));
});
afterAll(async () => {
  replies.close();
  await queues.close();
  await gateway.close();
});

async function make(resource: string, body: object): Promise<AnyRecord> {
  const reply = await gateway.post(`/api/v1/${resource}`, body);
  if (reply.status >= 300) throw new Error(`${resource}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body.data;
}

test('when no renderer takes a document before its deadline, then that is not a try, and it leaves the queue', async () => {
  const batch = await batchOf([{ tries: TRIES }]);

  await printSlice(batch, { print, signal: NEVER });

  expect(batch.documents).toMatchObject([{ status: 'queued', tries: TRIES }]);
  expect(batch.documents[0]?.next_at?.getTime()).toBeGreaterThan(Date.now());
  await eventually(async () => (await queues.counts(renderDocument)).ready === 0);
});

test('when a caller waits for the document, then 504, and it leaves the queue', async () => {
  const errors: unknown[] = [];
  const waitedFor: PrintDocument = (request) =>
    print({ ...request, isBackground: false }).catch((error: unknown) => {
      errors.push(error);
      throw error;
    });
  await printSlice(await batchOf([{ tries: 0 }]), { print: waitedFor, signal: NEVER });

  expect(errors).toMatchObject([{ status: 504 }]);
  await eventually(async () => (await queues.counts(renderDocument)).ready === 0);
});

test('when a renderer takes a document and never responds, then that is a try', async () => {
  const batch = await batchOf([{ tries: TRIES }]);
  const silence = Promise.withResolvers<void>();

  await withRenderer(
    () => silence.promise,
    () => printSlice(batch, { print: printPatiently(5_000), signal: NEVER }).finally(silence.resolve),
  );

  expect(batch.documents).toMatchObject([
    { status: 'failed', error: 'The document was not ready before its deadline' },
  ]);
});

test('when a renderer responds that it was too late, then that is a try', async () => {
  const batch = await batchOf([{ tries: TRIES }, { tries: 0 }]);

  await withRenderer(
    ({ replyTo }, { jobId: id }) =>
      sendReply(
        queues.redis,
        { prefix: gateway.workspace.redisPrefix, replyTo, id },
        { status: 504, message: 'not today' },
      ),
    () => printSlice(batch, { print: printPatiently(), signal: NEVER }),
  );

  expect(batch.documents).toMatchObject([
    { status: 'failed', error: 'not today' },
    { status: 'queued', tries: 1 },
  ]);
});

test.each<[string, Partial<BatchedDocument>]>([
  ['were tried without success', { tries: 2, next_at: new Date(1) }],
  ['were not taken by any renderer', { next_at: new Date(1) }],
])('when the first documents of a batch %s, then the others are printed before them', async (_what, given) => {
  const batch = await batchOf([given, given, {}, {}, {}, {}, {}, {}, {}, {}]);
  const printed: string[] = [];
  const printNow = (async ({ document }) => {
    printed.push(document.number);
    return { bytes: PDF, warnings: [] };
  }) as PrintDocument;

  await printSlice(batch, { print: printNow, signal: NEVER });

  // Two are printed at a time, so their order is not defined.
  expect(printed.toSorted()).toEqual(invoices.slice(2).map(({ invoice_number }) => invoice_number));
});

test('when a document has ended three gateways, then it fails and is shown to the operator, and the others are printed', async () => {
  const batch = await batchOf([{}, {}, {}]);
  const [deadly, ...others] = batch.documents.map(({ document_id }) => document_id) as [StoredId, ...StoredId[]];
  const account_id = batch.account_id;
  const common = { account_id, round: 'documents of batches' as const, record_id: deadly, tries: 3 };
  await RoundTry.create({ ...common, _id: `documents of batches/${deadly}`, tried_at: new Date(Date.now() - 120_000) });
  const counted: unknown[] = [];
  const printNow = (async () => {
    const tries = await RoundTry.find({ account_id, record_id: { $in: others }, tries: 1 })
      .readConcern('local')
      .lean();
    counted.push(tries.length > 0);
    return { bytes: PDF, warnings: [] };
  }) as PrintDocument;

  await printSlice(batch, { print: printNow, signal: NEVER });

  expect(batch.documents).toMatchObject([
    { status: 'failed', error: 'The document could not be printed' },
    { status: 'done' },
    { status: 'done' },
  ]);
  // Before each was printed.
  expect(counted).toEqual([true, true]);
  expect(await findSetAside(9)).toMatchObject([{ round: 'documents of batches', record_id: deadly }]);
  expect(await RoundTry.countDocuments({ account_id }).readConcern('local')).toBe(1);
  await RoundTry.deleteMany({ account_id });
});

/** Runs `work` as a renderer on the queue while `act` runs. */
async function withRenderer(work: JobHandler<RenderDocument>, act: () => Promise<void>) {
  const { redisUrl, redisPrefix: prefix } = gateway.workspace;
  const worker = startWorker(renderDocument, work, { redisUrl, prefix, log: testLog, concurrency: 2 });
  try {
    await eventually(async () => (await queues.workerCount(renderDocument)) > 0);
    await act();
  } finally {
    await worker.close(5_000);
  }
}

/** A batch with a lease of this process: the first invoices, each with the fields of `given`. */
async function batchOf(given: Partial<BatchedDocument>[]): Promise<ClaimedBatch> {
  const documents = given.map((fields, index) => ({
    kind: 'invoice' as const,
    document_id: storedId((invoices[index] as AnyRecord).id),
    number: index + 1,
    status: 'queued' as const,
    ...fields,
  }));
  const batch: BatchRecord = {
    ...newRecord(gateway.account.id),
    status: 'processing',
    kinds: ['invoice'],
    looks: { style: 'elegant', layout: 'standard', banner: true, accessible: false, signature: false },
    documents,
    total: documents.length,
    done: 0,
    failed: 0,
    request_id: 'test',
    due_at: new Date(Date.now() + 600_000),
    lease_id: 'ours',
    expires_at: new Date(Date.now() + 2 * BATCH_KEPT_MS),
  };
  await inTransaction((session) => insertOwn(DocumentBatch, batch, session));
  return { ...batch, lease_id: 'ours' };
}
