// The ZIP of a batch: what its files are called, whatever the numbers of the account look like, and what follows when they are gone.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { unzipSync } from 'fflate';
import { BatchFile } from '#libs/models/documents/batch-file.ts';
import { type BatchPrinting, openBatchPrinting } from '../../../services/gateway/documents/print-batches.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { create, createClient } from '../../support/records.ts';
import { testLog } from '../../support/workspace.ts';

let gateway: TestGateway;
let printing: BatchPrinting;
beforeAll(async () => {
  gateway = await startGateway();
  printing = openBatchPrinting({
    print: async ({ document }) => ({ bytes: Buffer.from(`%PDF-${document.number}%%EOF\n`), warnings: [] }),
    nudge: () => undefined,
    log: testLog,
  });
});
afterAll(async () => {
  await printing.close();
  await gateway.close();
});

test('when numbers have slashes and dots, then no file is in a folder or above it, and none replaces another', async () => {
  const client = await createClient(gateway);
  const documents: { type: string; id: string }[] = [];
  for (const [type, prefix] of [
    ['invoice', 'R/'],
    ['invoice', '../../'],
    ['quote', 'r-'],
  ] as const) {
    await gateway.patch('/api/v1/account', { number_formats: { [type]: { prefix, padding: 1 } } });
    const fields = { client_id: client.id, amount: 1, ...(type === 'invoice' ? { due_date: '2099-12-31' } : {}) };
    const { id } = await create(gateway, `/api/v1/${type}s`, fields);
    documents.push({ type, id });
  }
  const { id } = (await gateway.post('/api/v1/documents', { documents })).body.data;
  const batch = await eventually(async () => {
    const { data } = (await gateway.get(`/api/v1/documents/${id}`)).body;
    return data.archive_url !== null && data;
  }, 60_000);

  const entries = Object.entries(unzipSync((await gateway.get(batch.archive_url)).body));

  const numbers = batch.documents.map(({ number }: { number: string }) => number);
  expect(numbers).toEqual(['R/1', '../../2', 'r-1']);
  expect(entries.map(([name]) => name)).toEqual(['R-1.pdf', '2.pdf', 'r-1 (2).pdf']);
  expect(entries.map(([, bytes]) => Buffer.from(bytes).toString())).toEqual(
    numbers.map((number: string) => `%PDF-${number}%%EOF\n`),
  );
});

test('when the files expire between the read of the batch and theirs, then it is 404, and the connection is not cut', async () => {
  const client = await createClient(gateway);
  const { id: invoice } = await create(gateway, '/api/v1/invoices', {
    client_id: client.id,
    amount: 1,
    due_date: '2099-12-31',
  });
  const documents = [{ type: 'invoice', id: invoice }];
  const { id } = (await gateway.post('/api/v1/documents', { documents })).body.data;
  const path = `/api/v1/documents/${id}/archive`;
  await eventually(async () => (await gateway.get(path)).status === 200, 60_000);
  await BatchFile.deleteMany({ account_id: gateway.account.id, batch_id: id });

  expect(await gateway.get(path)).toMatchObject({ status: 404, body: { error: 'Batch of documents not found' } });
});
