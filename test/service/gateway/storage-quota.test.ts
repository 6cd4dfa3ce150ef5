// Storage quotas of an account: bytes of records and events, and bytes of printed files, exact under concurrent writes.
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Counter } from '#libs/models/counter.ts';
import { BatchFile, keepFile, removeFiles, sumFiles } from '#libs/models/documents/batch-file.ts';
import { type BatchRecord, insertBatch, removeDocumentBatch } from '#libs/models/documents/document-batch.ts';
import { countStored, quotaStep } from '#libs/models/stored-bytes.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { openBatchPrinting } from '../../../services/gateway/documents/print-batches.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { create, createClient, eventsOf } from '../../support/records.ts';
import { type TestAccount, testLog } from '../../support/workspace.ts';

const MIB = 2 ** 20;
const FILES_MAX = 4 * MIB;

let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  gateway = await startGateway({ quotas: { records: MIB, files: FILES_MAX } });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
});

const storedBytes = async () =>
  Number((await Counter.findById(account.id).lean<{ stored_bytes?: number }>())?.stored_bytes ?? 0);

/** 71 kB for the record and again for its event. Each exceeds a step of the sum, so that no rounding is random. */
const HAN = { address: '字'.repeat(20_000), company_name: '字'.repeat(1_900), tax_id: '字'.repeat(1_900) };
const large = (name: string) => createClient(gateway, { name, ...HAN }, account);

describe('records and events', () => {
  test('when they would exceed the quota, then 409 names both figures, and nothing is stored', async () => {
    let count = 0;
    const post = () => gateway.post('/api/v1/clients', { name: `C${count}`, email: 'a@b.example', ...HAN }, account);
    let reply = await post();
    for (; reply.status === 201; reply = await post()) count += 1;

    expect([reply.status, reply.body]).toEqual([
      409,
      expect.objectContaining({
        error: expect.stringMatching(/^Records and events would take 2 MiB, at most 1 MiB are kept for an account/),
      }),
    ]);
    // One MiB holds seven of them, but not eight.
    expect(count).toBe(7);
    expect(await eventsOf(account.id)).toHaveLength(count);
    expect((await gateway.get('/api/v1/clients', account)).body.pagination.total).toBe(count);
  });

  test('when a response in letters of three bytes is kept for an Idempotency-Key, then its bytes count, and not its characters', async () => {
    const { id: client_id } = await createClient(gateway, { name: 'Han' }, account);
    const invoice = { client_id, amount: 100, due_date: '2099-12-31', status: 'Sent' };
    const bytesOfCredit = async (headers: Record<string, string>) => {
      const { id } = await create(gateway, '/api/v1/invoices', invoice, account);
      const before = await storedBytes();
      const credit = { reason: 'goodwill', amount: 1, description: '字'.repeat(20_000) };
      const { status } = await gateway.post(`/api/v1/invoices/${id}/credit-notes`, credit, { ...account, headers });
      expect(status).toBe(201);
      return (await storedBytes()) - before;
    };
    const without = await bytesOfCredit({});

    expect((await bytesOfCredit({ 'Idempotency-Key': 'credit-1' })) - without).toBeGreaterThan(60_000);
  });

  test('when the quota is reached, then reads, deletions and anonymisation still work, and freed bytes can be used again', async () => {
    const clients = [];
    for (let count = 0; count < 3; count += 1) clients.push(await large(`C${count}`));
    await Counter.collection.updateOne({ _id: storedId(account.id) as never }, { $set: { stored_bytes: MIB } });
    const [first, second] = clients;

    expect((await gateway.patch(`/api/v1/clients/${first.id}`, { name: 'New' }, account)).status).toBe(409);
    expect((await gateway.get(`/api/v1/clients/${first.id}`, account)).status).toBe(200);
    expect((await gateway.post(`/api/v1/clients/${first.id}/anonymise`, {}, account)).status).toBe(200);
    expect((await gateway.delete(`/api/v1/clients/${second.id}`, account)).status).toBe(200);
    await createClient(gateway, { name: 'Small' }, account);
  });

  test('when another account has reached its quota, then this one is not affected', async () => {
    const other = await gateway.workspace.account();
    await Counter.collection.updateOne(
      { _id: storedId(other.id) as never },
      { $set: { stored_bytes: MIB } },
      { upsert: true },
    );
    expect((await gateway.post('/api/v1/clients', { name: 'X', email: 'a@b.example' }, other)).status).toBe(409);
    await createClient(gateway, {}, account);
  });

  test('when records are created, changed and removed, then the sum follows their size', async () => {
    const { id } = await large('One');
    const made = await storedBytes();
    // Record and event.
    expect(made).toBeGreaterThan(2 * 70_000);
    expect(made).toBeLessThan(2 * 75_000);
    await gateway.patch(`/api/v1/clients/${id}`, { phone: '1' }, account);
    // Another event with the whole record.
    expect((await storedBytes()) - made).toBeGreaterThan(70_000);
  });

  test('when changes are small, then the sum is correct on average, and few of them update it', async () => {
    const sums: number[] = [];
    await inTransaction(async (session) => {
      countStored(session, 1_000);
      for (let index = 0; index < 6_554; index += 1) sums.push(quotaStep(session, undefined, () => index / 6_554));
      countStored(session, -2_000);
      expect(quotaStep(session, undefined, () => 0)).toBe(-65_536);
      countStored(session, 100_001_000);
      expect(quotaStep(session, undefined, () => 0.999)).toBe(100_000_000);
    });
    const raised = sums.filter((step) => step > 0);
    expect(new Set(raised)).toEqual(new Set([65_536]));
    expect(raised.reduce((sum, step) => sum + step, 0) / sums.length).toBeCloseTo(1_000, -2);
  });
});

describe('files of batches', () => {
  async function aBatch(documents = 3): Promise<BatchRecord> {
    const base = newRecord(account.id);
    const inADay = new Date(Date.now() + 86_400_000);
    const batch: BatchRecord = {
      ...base,
      status: 'processing',
      kinds: ['invoice'],
      looks: {},
      documents: Array.from({ length: documents }, () => {
        return {
          kind: 'invoice' as const,
          document_id: storedId(String(base._id)),
          number: 1,
          status: 'queued' as const,
        };
      }),
      total: documents,
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
  const keep = (batch: BatchRecord, index: number, mebibytes: number) =>
    keepFile(batch, index, Buffer.alloc(mebibytes * MIB), { maxBytes: FILES_MAX });
  const count = () => BatchFile.countDocuments({ account_id: account.id });
  const sum = () => sumFiles(storedId(account.id));

  test('when one more file would exceed the limit, then 409 names both figures, and it is not stored', async () => {
    const batch = await aBatch();
    await keep(batch, 0, 3);
    await expect(keep(batch, 1, 2)).rejects.toMatchObject({
      status: 409,
      message: expect.stringMatching(/^Files of batches would take 5 MiB, at most 4 MiB are kept for an account/),
    });
    expect([await count(), await sum()]).toEqual([1, 3 * MIB]);
  });

  test('when many files are stored concurrently in several batches, then the limit is never exceeded', async () => {
    const batches = [await aBatch(), await aBatch(), await aBatch()];
    const kept = await Promise.allSettled(batches.flatMap((batch) => [0, 1, 2].map((index) => keep(batch, index, 1))));

    expect(kept.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    expect([await count(), await sum()]).toEqual([4, FILES_MAX]);
  });

  test('when a document is printed twice, then it counts once; when its batch is removed, then not at all', async () => {
    const batch = await aBatch();
    await keep(batch, 0, 4);
    await keep(batch, 0, 3);
    expect(await sum()).toBe(3 * MIB);
    await inTransaction(async (session) => {
      await removeDocumentBatch(batch, session);
      await removeFiles(batch, session);
    });
    expect(await sum()).toBe(0);
    await keep(await aBatch(), 0, 4);
  });

  test('when a batch is made and removed, then the sum of records and events is what it was', async () => {
    const client = await createClient(gateway, {}, account);
    const fields = { client_id: client.id, due_date: '2099-12-31', amount: 1, description: 'Work' };
    const { id } = await create(gateway, '/api/v1/invoices', fields, account);
    const before = await storedBytes();
    // Every change of the sum is a whole step then.
    const chance = jest.spyOn(Math, 'random').mockReturnValue(0);
    try {
      const batch = await create(gateway, '/api/v1/documents', { documents: [{ type: 'invoice', id }] }, account);
      expect((await gateway.delete(`/api/v1/documents/${batch.id}`, account)).status).toBe(200);
    } finally {
      chance.mockRestore();
    }
    expect((await storedBytes()) - before).toBe(0);
  });

  test('when a batch is finished, then its event counts, which is kept for good', async () => {
    const client = await createClient(gateway, {}, account);
    const fields = { client_id: client.id, due_date: '2099-12-31', amount: 1, description: 'Work' };
    const { id } = await create(gateway, '/api/v1/invoices', fields, account);
    await create(gateway, '/api/v1/documents', { documents: [{ type: 'invoice', id }] }, account);
    const before = await storedBytes();
    // Every change of the sum is a whole step then.
    const chance = jest.spyOn(Math, 'random').mockReturnValue(0);
    const print = async () => ({ bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] });
    const printing = openBatchPrinting({ print, nudge: () => undefined, log: testLog });
    try {
      await eventually(async () => (await eventsOf(account.id)).includes('documents.completed'));
    } finally {
      await printing.close();
      chance.mockRestore();
    }
    expect((await storedBytes()) - before).toBe(64 * 1024);
  });

  test('when there is no room left, then another batch is 409 with both figures', async () => {
    const client = await createClient(gateway, {}, account);
    const fields = { client_id: client.id, due_date: '2099-12-31', amount: 1, description: 'Work' };
    const { id } = await create(gateway, '/api/v1/invoices', fields, account);
    await keep(await aBatch(), 0, 4);
    const reply = await gateway.post('/api/v1/documents', { documents: [{ type: 'invoice', id }] }, account);

    expect([reply.status, reply.body.error]).toEqual([
      409,
      expect.stringMatching(/^Files of batches would take 4 MiB, at most 4 MiB are kept/),
    ]);
  });
});
