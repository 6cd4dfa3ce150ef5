// The files of a batch stay no longer than the batch, also when it is removed while one is written.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BatchFile, keepFile, removeFiles } from '#libs/models/documents/batch-file.ts';
import { type BatchRecord, DocumentBatch, insertBatch } from '#libs/models/documents/document-batch.ts';
import { removeOwn } from '#libs/models/records.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';

let system: TestSystem;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.close());

/** Leased, and not due for a day, so that no gateway takes it. */
async function aBatch(): Promise<BatchRecord> {
  const base = newRecord(system.account.id);
  const inADay = new Date(Date.now() + 86_400_000);
  const batch: BatchRecord = {
    ...base,
    status: 'processing',
    kinds: ['invoice'],
    looks: {},
    documents: [{ kind: 'invoice', document_id: storedId(String(base._id)), number: 1, status: 'queued' }],
    total: 1,
    done: 0,
    failed: 0,
    request_id: 'request',
    lease_id: 'ours',
    due_at: inADay,
    expires_at: inADay,
  };
  await inTransaction((session) => insertBatch(batch, session));
  return batch;
}

const filesOf = ({ _id, account_id }: BatchRecord) => BatchFile.countDocuments({ account_id, batch_id: _id });

test('when a batch is removed while a file is written, then no file is left', async () => {
  const batch = await aBatch();
  await inTransaction(async (session) => {
    await removeOwn(DocumentBatch, batch, session);
    await removeFiles(batch, session);
  });
  await keepFile(batch, 0, Buffer.from('%PDF'));

  expect(await filesOf(batch)).toBe(0);
});

test('when another gateway has taken the batch over, then the file of the first one is not kept', async () => {
  const batch = await aBatch();
  await keepFile({ ...batch, lease_id: 'of one that was too slow' }, 0, Buffer.from('%PDF'));
  expect(await filesOf(batch)).toBe(0);

  await keepFile(batch, 0, Buffer.from('%PDF'));
  await keepFile(batch, 0, Buffer.from('%PDF again'));
  expect(await filesOf(batch)).toBe(1);
});
