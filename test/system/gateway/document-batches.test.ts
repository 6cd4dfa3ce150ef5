// Batches of stored documents: printed after those of waiting callers, watched, fetched one by one or as a ZIP, announced once.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { unzipSync } from 'fflate';
import { dayIn } from '#libs/day.ts';
import { ApiKey } from '#libs/models/accounts/api-key.ts';
import { untilForgotten } from '#libs/models/accounts/key-cache.ts';
import { readBatchBacklog } from '#libs/models/documents/batch-clock.ts';
import { BatchFile } from '#libs/models/documents/batch-file.ts';
import {
  BATCHES_RUNNING_MAX,
  type BatchRecord,
  DocumentBatch,
  insertBatch,
} from '#libs/models/documents/document-batch.ts';
import { acrossAccounts, newRecord, storedId } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { eventually } from '../../support/eventually.ts';
import type { Call } from '../../support/gateway.ts';
import { type AnyRecord, UNKNOWN_ID } from '../../support/records.ts';
import { readPdf } from '../../support/renderer/read-pdf.ts';
import { startSystem, type TestSystem } from '../../support/system.ts';
import type { TestAccount } from '../../support/workspace.ts';

const path = '/api/v1/documents';
/** Only ends a hang: printing can take long on a busy machine. */
const PRINTED_LIMIT_MS = 60_000;

let system: TestSystem;
let client: AnyRecord;
beforeAll(async () => {
  system = await startSystem({ env: { RATE_LIMIT_DOCUMENTS: '3' } });
  client = await make('clients', { name: 'Ada Lovelace', email: 'ada@client.example' });
});
afterAll(() => system.close());

async function make(resource: string, body: object, call: Call = {}): Promise<AnyRecord> {
  const reply = await system.call('POST', `/api/v1/${resource}`, { body, ...call });
  if (reply.status >= 300) throw new Error(`${resource}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body.data;
}

const makeInvoice = (fields: object = {}) =>
  make('invoices', { client_id: client.id, due_date: '2099-12-31', amount: 100, status: 'Sent', ...fields });
const makeQuote = () => make('quotes', { client_id: client.id, amount: 50, description: 'Offer' });
const invoice = ({ id }: AnyRecord) => ({ type: 'invoice' as const, id: id as string });
const quote = ({ id }: AnyRecord) => ({ type: 'quote', id });
const get = (url: string, call: Call = {}) => system.call('GET', url, call);

async function finished(id: string, call: Call = {}): Promise<AnyRecord> {
  return eventually(async () => {
    const { data } = (await get(`${path}/${id}`, call)).body;
    return data.completed_at !== null && data;
  }, PRINTED_LIMIT_MS);
}

async function completions(accountId: string): Promise<AnyRecord[]> {
  const events = await Event.find({ account_id: accountId, type: 'documents.completed' }).lean();
  return events.map(({ body }) => JSON.parse(body).data);
}

/** A separate account, with an invoice that no other batch contains. */
async function separateAccount(): Promise<TestAccount & { invoice: AnyRecord }> {
  const account = await system.workspace.account();
  const own = await make('clients', { name: 'Own', email: 'own@example.com' }, account);
  const fields = { client_id: own.id, due_date: '2099-12-31', amount: 1, description: 'Work' };
  return { ...account, invoice: await make('invoices', fields, account) };
}

describe('a batch', () => {
  test('when invoices and quotes are requested, then 202 with Location, and all of them can be fetched, one by one and in a ZIP', async () => {
    const records = [await makeInvoice(), await makeQuote(), await makeInvoice({ amount: 7, description: 'Seven' })];
    const documents = records.map((record) => (record.quote_number ? quote(record) : invoice(record)));
    const taken = await system.call('POST', path, {
      body: { documents, style: 'modern', size: 'a4', locale: 'de-DE' },
    });
    const { id } = taken.body.data;

    expect(taken.status).toBe(202);
    expect(taken.headers.get('Location')).toBe(`${path}/${id}`);
    expect(taken.body).toMatchObject({ success: true, data: { status: 'queued', total: 3, done: 0, failed: 0 } });
    expect(taken.body.data.looks).toMatchObject({ style: 'modern', size: 'a4', locale: 'de-DE' });

    const batch = await finished(id);
    expect(batch).toMatchObject({ status: 'done', done: 3, failed: 0, archive_url: `${path}/${id}/archive` });
    expect(batch.documents.map(({ number, status }: AnyRecord) => [number, status])).toEqual(
      records.map((record) => [record.invoice_number ?? record.quote_number, 'done']),
    );

    const files: Buffer[] = [];
    for (const [index, document] of batch.documents.entries()) {
      const file = await get(document.url);
      files.push(file.body);
      expect([file.status, file.headers.get('Content-Type')]).toEqual([200, 'application/pdf']);
      expect(file.headers.get('Content-Disposition')).toContain(`filename="${document.number}.pdf"`);
      expect(document).toMatchObject({
        position: index + 1,
        size_bytes: file.body.length,
        error: null,
        error_code: null,
      });
    }
    expect((await readPdf(files[2] as Buffer)).text).toContain('Seven');

    const archive = await get(batch.archive_url);
    expect([archive.status, archive.headers.get('Content-Type')]).toEqual([200, 'application/zip']);
    const entries = unzipSync(archive.body);
    expect(Object.keys(entries)).toEqual(batch.documents.map(({ number }: AnyRecord) => `${number}.pdf`));
    expect(Object.values(entries).map((bytes) => Buffer.from(bytes).equals(files.shift() as Buffer))).toEqual(
      Array(3).fill(true),
    );
  });

  test('when a document of a batch is requested alone, then it has the same bytes', async () => {
    const record = await makeInvoice();
    const { id } = await make('documents', { documents: [invoice(record)], style: 'classic' });
    const [document] = (await finished(id)).documents;

    const kept = await get(document.url);
    const alone = await get(`/api/v1/invoices/${record.id}/pdf?style=classic`);

    expect(alone.status).toBe(200);
    expect(kept.body.equals(alone.body)).toBe(true);
    const known = { 'If-None-Match': kept.headers.get('ETag') ?? '' };
    expect((await get(document.url, { headers: known })).status).toBe(304);
  });

  test('when no font has the characters of its lines, then there is one warning for all of them', async () => {
    const line_items = Array.from({ length: 100 }, () => ({ description: '𓀀𓀁', quantity: 1, rate: 1 }));
    const { id } = await make('documents', { documents: [invoice(await makeInvoice({ line_items }))] });

    expect((await finished(id)).documents[0].warnings).toEqual([
      'lineItems.0.description and 99 more: no glyph for U+13000 U+13001',
    ]);
  });

  test('when it is finished, then one event has the same body as a read', async () => {
    const account = await separateAccount();
    const { id } = await make('documents', { documents: [invoice(account.invoice)] }, account);
    const batch = await finished(id, account);

    expect(await completions(account.id)).toEqual([batch]);
  });

  test('when an invoice is deleted before it is printed, then its document alone fails and says why', async () => {
    const account = await separateAccount();
    const other = await make(
      'invoices',
      { client_id: account.invoice.client.id, due_date: '2099-12-31', amount: 2 },
      account,
    );
    const { id } = await pausedBatch(account, [invoice(account.invoice), invoice(other)]);
    await system.call('DELETE', `/api/v1/invoices/${other.id}`, account);
    await resume(account, id);

    const batch = await finished(id, account);
    expect(batch).toMatchObject({ status: 'partly_failed', done: 1, failed: 1 });
    expect(batch.documents[1]).toMatchObject({
      status: 'failed',
      error: 'Invoice not found',
      error_code: 'invoice_not_found',
      error_params: {},
      url: null,
    });
    const rejected = await get(`${path}/${id}/files/2`, account);
    expect([rejected.status, rejected.body.error]).toEqual([
      409,
      'The document could not be printed: Invoice not found',
    ]);
    expect(Object.keys(unzipSync((await get(batch.archive_url, account)).body))).toHaveLength(1);
  });

  test('when it is another day in the time zone of the account, then the ZIP and its entries have that day', async () => {
    const account = await separateAccount();
    const { data } = (await system.call('POST', path, { ...account, body: { documents: [invoice(account.invoice)] } }))
      .body;
    const batch = await finished(data.id, account);
    const completedAt = new Date(batch.completed_at);
    const time_zone = completedAt.getUTCHours() < 11 ? 'Pacific/Pago_Pago' : 'Pacific/Kiritimati';
    await system.call('PATCH', '/api/v1/account', { ...account, body: { time_zone } });

    const { headers, body } = await get(batch.archive_url, account);
    const day = dayIn(time_zone, completedAt);
    expect(day).not.toBe(dayIn('UTC', completedAt));
    expect(headers.get('Content-Disposition')).toBe(`attachment; filename=documents-${day}.zip`);
    // Year since 1980, month and day, in the head of the first file.
    const date = body.readUInt16LE(12);
    expect([1980 + (date >> 9), (date >> 5) & 15, date & 31]).toEqual(day.split('-').map(Number));
  });

  test('when it is not finished, then files and archive respond 409 with Retry-After', async () => {
    const account = await separateAccount();
    const { id } = await pausedBatch(account, [invoice(account.invoice)]);

    const [view, file, archive] = await Promise.all(
      ['', '/files/1', '/archive'].map((part) => get(`${path}/${id}${part}`, account)),
    );
    expect([view?.status, view?.headers.get('Retry-After')]).toEqual([200, '1']);
    expect([file?.status, file?.body]).toEqual([
      409,
      expect.objectContaining({ error: 'The document is not printed yet' }),
    ]);
    expect([archive?.status, archive?.body]).toEqual([
      409,
      expect.objectContaining({ error: 'The batch is not finished yet' }),
    ]);
    for (const place of ['2', '0', '-1', '1.5', 'one', '201']) {
      expect([place, (await get(`${path}/${id}/files/${place}`, account)).status]).toEqual([place, 404]);
    }
  });

  test('when it is deleted, then nothing of it is left and no event follows', async () => {
    const account = await separateAccount();
    const done = await make('documents', { documents: [invoice(account.invoice)] }, account);
    await finished(done.id, account);
    const waiting = await pausedBatch(account, [invoice(account.invoice)]);

    for (const { id } of [done, waiting]) {
      const reply = await system.call('DELETE', `${path}/${id}`, account);
      expect([reply.status, reply.body.message]).toEqual([200, 'Batch of documents deleted']);
      expect((await get(`${path}/${id}`, account)).status).toBe(404);
    }
    expect(await BatchFile.countDocuments({ account_id: account.id })).toBe(0);
    expect(await completions(account.id)).toHaveLength(1);
    expect((await get(`/api/v1/invoices/${account.invoice.id}`, account)).status).toBe(200);
  });

  test('when many files are fetched, then they count as reads, not as rendered documents', async () => {
    const { id } = await make('documents', { documents: [invoice(await makeInvoice())] });
    await finished(id);

    // More than the number of documents that a key may render in a minute here.
    const statuses = await Promise.all(
      Array.from({ length: 12 }, async () => (await get(`${path}/${id}/files/1`)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('when it is finished, then record and file expire at the same moment', async () => {
    const account = await separateAccount();
    const { id } = await make('documents', { documents: [invoice(account.invoice)] }, account);
    const { completed_at, expires_at } = await finished(id, account);
    const file = await BatchFile.findOne({ account_id: account.id }, { expires_at: 1 }).lean();

    expect(Date.parse(expires_at) - Date.parse(completed_at)).toBe(24 * 3600 * 1000);
    expect((file as AnyRecord).expires_at.toISOString()).toBe(expires_at);
  });
});

describe('what is rejected', () => {
  test('when documents are foreign, unknown or of the other type, then 404 names their positions and nothing is stored', async () => {
    const stranger = await separateAccount();
    const own = await makeInvoice();
    const before = await DocumentBatch.countDocuments({ account_id: system.account.id });
    const documents = [
      invoice(own),
      invoice(stranger.invoice),
      { type: 'quote', id: UNKNOWN_ID },
      { type: 'quote', id: (await makeInvoice()).id },
    ];
    const reply = await system.call('POST', path, { body: { documents } });

    expect([reply.status, reply.body]).toMatchObject([
      404,
      {
        error: 'Document not found or access denied',
        details: {
          'documents.1.id': ['Invoice not found or access denied'],
          'documents.2.id': ['Quote not found or access denied'],
          'documents.3.id': ['Quote not found or access denied'],
        },
      },
    ]);
    expect(await DocumentBatch.countDocuments({ account_id: system.account.id })).toBe(before);
  });

  test.each([
    ['nothing', {}, 'documents'],
    ['no document', { documents: [] }, 'documents'],
    ['201 documents', { documents: Array.from({ length: 201 }, (_, index) => fake(index)) }, 'documents'],
    ['a document twice', { documents: [fake(1), fake(2), fake(1)] }, 'documents.2'],
    ['another type', { documents: [{ type: 'letter', id: UNKNOWN_ID }] }, 'documents.0.type'],
    ['no UUID', { documents: [{ type: 'invoice', id: '1' }] }, 'documents.0.id'],
    ['an unknown style', { documents: [fake(1)], style: 'baroque' }, 'style'],
    ['an unknown size', { documents: [fake(1)], size: 'a3' }, 'size'],
    ['an unknown locale', { documents: [fake(1)], locale: 'nonsense-tag-x' }, 'locale'],
  ])('when %s is sent, then 400 names the field', async (_what, body, field) => {
    const reply = await system.call('POST', path, { body });

    expect([reply.status, reply.body.error, Object.keys(reply.body.details ?? {})]).toEqual([
      400,
      'Validation failed',
      [field],
    ]);
  });

  test('when far too many are sent, then 400 names the maximum', async () => {
    const body = { documents: Array.from({ length: 600 }, (_, index) => fake(index)) };
    const reply = await system.call('POST', path, { body });

    expect(reply.body.details).toEqual({ documents: ['documents must contain less than or equal to 200 items'] });
  });

  test('when an account has too many unfinished batches, then 429 until one is finished', async () => {
    const account = await separateAccount();
    const documents = [invoice(account.invoice)];
    const paused = [];
    for (let index = 0; index < BATCHES_RUNNING_MAX; index += 1) paused.push(await pausedBatch(account, documents));

    const rejected = await system.call('POST', path, { body: { documents }, ...account });
    expect([rejected.status, rejected.body.error]).toEqual([429, '5 batches of documents are not finished yet']);
    expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(0);
    // Another account is not affected.
    await make('documents', { documents: [invoice(await makeInvoice())] });

    await resume(account, paused[0]?.id ?? '');
    await finished(paused[0]?.id ?? '', account);
    expect((await system.call('POST', path, { body: { documents }, ...account })).status).toBe(202);
  });
});

describe('for operators', () => {
  test('when batches are not finished, then metrics count them and have the age of the oldest', async () => {
    const account = await separateAccount();
    const { id } = await pausedBatch(account, [invoice(account.invoice)]);
    const { due_at: dueAt } = (await DocumentBatch.findOne({ _id: id, account_id: account.id }).lean()) as BatchRecord;
    const muchLater = new Date(Number(dueAt) + 90_000);

    const unfinished = { completed_at: { $exists: false } };
    // Batches of other tests may be finished in between.
    const counted = await eventually(async () => {
      const inStore = await DocumentBatch.countDocuments(unfinished).setOptions(acrossAccounts);
      return (await readBatchBacklog()).unfinished === inStore && inStore;
    });

    expect(counted).toBeGreaterThan(0);
    expect((await readBatchBacklog(muchLater)).lagMs).toBeGreaterThanOrEqual(90_000);
  });
});

describe('safe retries', () => {
  test('when an Idempotency-Key is repeated, then the response has the same batch and Location, and there is only one batch', async () => {
    const account = await separateAccount();
    const call = {
      ...account,
      body: { documents: [invoice(account.invoice)] },
      headers: { 'Idempotency-Key': 'month-11' },
    };
    const first = await system.call('POST', path, call);
    await finished(first.body.data.id, account);
    await system.call('DELETE', `/api/v1/invoices/${account.invoice.id}`, account);
    const again = await system.call('POST', path, call);

    expect([again.status, again.body]).toEqual([202, first.body]);
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'));
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await get(path, account)).body.pagination.total).toBe(1);
    const other = { ...call, body: { documents: [{ type: 'quote', id: UNKNOWN_ID }] } };
    expect((await system.call('POST', path, other)).status).toBe(422);
  });
});

describe('authorization', () => {
  const keyWith = async (scopes: string[]) => {
    const { key } = await make('keys', { name: 'narrow', scopes });
    return { key };
  };

  test('when a key may not read the documents of a batch, then it can neither create nor read it, and does not see it listed', async () => {
    const mixed = await make('documents', { documents: [invoice(await makeInvoice()), quote(await makeQuote())] });
    const quotesOnly = await keyWith(['documents:write', 'quotes:read']);
    const body = { documents: [invoice(await makeInvoice())] };

    const asked = await system.call('POST', path, { ...quotesOnly, body });
    expect([asked.status, asked.body.error]).toEqual([403, 'Forbidden: API key lacks the invoices:read scope']);
    await finished(mixed.id);
    for (const part of ['', '/files/1', '/files/2', '/archive']) {
      expect([part, (await get(`${path}/${mixed.id}${part}`, quotesOnly)).status]).toEqual([part, 403]);
    }
    expect((await system.call('DELETE', `${path}/${mixed.id}`, quotesOnly)).status).toBe(403);

    const own = await make('documents', { documents: [quote(await makeQuote())] }, quotesOnly);
    const listed = (await get(path, quotesOnly)).body.data;
    expect(listed.map(({ id }: AnyRecord) => id)).toContain(own.id);
    expect(listed.map(({ id }: AnyRecord) => id)).not.toContain(mixed.id);
    expect((await get(`${path}/${own.id}`, quotesOnly)).status).toBe(200);
  });

  test('when the key is revoked while its batch waits, then the batch is printed all the same, and the key reads nothing', async () => {
    const account = await separateAccount();
    const { id } = await pausedBatch(account, [invoice(account.invoice)]);
    await ApiKey.updateMany({ account_id: account.id }, { $set: { revoked_at: new Date() } });
    await untilForgotten();
    await resume(account, id);

    await eventually(async () => (await completions(account.id)).length === 1, PRINTED_LIMIT_MS);
    expect((await get(`${path}/${id}/files/1`, account)).status).toBe(401);
  });
});

describe('lists', () => {
  test('when batches are listed by status, then newest first, without their documents', async () => {
    const account = await separateAccount();
    const documents = [invoice(account.invoice)];
    const first = await make('documents', { documents }, account);
    await finished(first.id, account);
    const second = await pausedBatch(account, documents);

    const all = (await get(path, account)).body;
    expect(all.data.map(({ id }: AnyRecord) => id)).toEqual([second.id, first.id]);
    expect(all.data[0]).not.toHaveProperty('documents');
    expect((await get(`${path}?status=done`, account)).body.data.map(({ id }: AnyRecord) => id)).toEqual([first.id]);
    expect((await get(`${path}?status=nothing`, account)).status).toBe(400);
  });
});

/** A batch that is not due until `resume` makes it so; otherwise stored as the API stores it. */
async function pausedBatch(
  account: TestAccount,
  documents: { type: 'invoice'; id: string }[],
): Promise<{ id: string }> {
  const base = newRecord(account.id);
  const batch = {
    ...base,
    status: 'queued' as const,
    kinds: ['invoice' as const],
    looks: { style: 'elegant', layout: 'standard', banner: true, accessible: false, signature: false },
    documents: documents.map(({ id }, index) => {
      return { kind: 'invoice' as const, document_id: storedId(id), number: index + 1, status: 'queued' as const };
    }),
    total: documents.length,
    done: 0,
    failed: 0,
    request_id: 'paused-batch',
    due_at: new Date('2099-01-01'),
    expires_at: new Date('2099-01-01'),
  };
  await inTransaction((session) => insertBatch(batch, session));
  return { id: String(base._id) };
}

async function resume(account: TestAccount, id: string) {
  await DocumentBatch.updateOne({ _id: id, account_id: account.id }, { $set: { due_at: new Date() } });
}

function fake(index: number) {
  return { type: 'invoice', id: `0192e0a0-0000-7000-8000-${String(index).padStart(12, '0')}` };
}
