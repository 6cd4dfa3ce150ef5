// Replica set members with different data: no stored record is reported as missing, and no false conflict.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { Client } from '#libs/models/accounts/client.ts';
import type { ClaimedBatch } from '#libs/models/documents/batch-clock.ts';
import { BATCH_KEPT_MS, type BatchRecord, DocumentBatch } from '#libs/models/documents/document-batch.ts';
import { insertOwn } from '#libs/models/records.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { Event as StoredEvent } from '#libs/models/webhooks/event.ts';
import { inTransaction } from '#libs/mongo/connection.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import { examineMongodb } from '../../../services/admin/doctor-stores.ts';
import { printSlice } from '../../../services/gateway/documents/print-slice.ts';
import { eventually } from '../../support/eventually.ts';
import type { Member } from '../../support/faults/system/replica-set.ts';
import { type OwnSet, openOwnSet } from '../../support/own-set.ts';
import { spawnGateway } from '../../support/spawn-gateway.ts';

const LIMIT_MS = 180_000;
/** A wrong response would arrive within a few milliseconds. */
const QUIET_MS = 500;

let own: OwnSet;
let gateway: Awaited<ReturnType<typeof spawnGateway>> | undefined; // Both are absent when they did not start.
let other: typeof gateway;
let accountId: string;
let next: Member;

beforeAll(async () => {
  own = await openOwnSet('replica-set');
  const { id, key } = await own.workspace.account();
  accountId = id;
  gateway = await spawnGateway(own.workspace, key);
  other = await spawnGateway(own.workspace, key);
}, LIMIT_MS);
afterAll(async () => {
  await Promise.all([gateway?.stop(), other?.stop()]);
  await (own as OwnSet | undefined)?.close();
}, LIMIT_MS);

beforeEach(async () => {
  next = await own.secondary();
});
afterEach(() => own.noticeMajority());

const send = (...call: Parameters<NonNullable<typeof gateway>['send']>) =>
  (gateway as NonNullable<typeof gateway>).send(...call);

const sendToOther = (...call: Parameters<NonNullable<typeof gateway>['send']>) =>
  (other as NonNullable<typeof gateway>).send(...call);

/** While replication is off, requests that wait for a majority keep waiting. */
async function replicate(isOn: boolean) {
  const primary = await own.set.primary();
  for (const member of own.set.members) {
    if (member !== primary)
      await member.command({ configureFailPoint: 'rsSyncApplyStop', mode: isOn ? 'off' : 'alwaysOn' });
  }
}

const ada = { name: 'Ada', email: 'ada@example.com' };
const late = { name: 'Late', email: 'late@example.com' };

test(
  'when a new primary does not know the acknowledged writes yet, then reads wait until it does',
  async () => {
    await own.noticeNoMajority(next);
    const headers = { 'Idempotency-Key': randomUUID() };
    const created = await send('POST', '/api/v1/clients', { body: ada, headers });
    const { key } = (await send('POST', '/api/v1/keys', { body: { name: 'new', scopes: ['clients:read'] } })).body.data;
    const path = `/api/v1/clients/${created.body.data.id}`;

    await own.elect(next);
    let settled = 0;
    const calls = [
      send('GET', path),
      send('GET', path, { key }),
      send('GET', '/api/v1/clients'),
      send('POST', '/api/v1/clients', { body: ada, headers }),
    ].map((call) =>
      call.finally(() => {
        settled += 1;
      }),
    );
    await pause(QUIET_MS);
    const early = settled;
    await own.noticeMajority();
    const [read, withNewKey, list, again] = await Promise.all(calls);

    expect(read).toMatchObject({ status: 200, body: { data: { name: 'Ada' } } });
    expect(withNewKey?.status).toBe(200);
    expect(list?.body.data).toMatchObject([{ id: created.body.data.id }]);
    expect(again).toMatchObject({ status: 201, body: created.body });
    expect(early).toBe(0);
  },
  LIMIT_MS,
);

test(
  'when a new primary does not learn them for long, then 503 with Retry-After',
  async () => {
    await own.noticeNoMajority(next);
    const created = await send('POST', '/api/v1/clients', { body: ada });

    await own.elect(next);
    const read = await send('GET', `/api/v1/clients/${created.body.data.id}`);

    expect(read).toMatchObject({ status: 503, body: { error: 'The service is temporarily unavailable' } });
    expect(read.headers.get('retry-after')).toBe('1');
  },
  LIMIT_MS,
);

test(
  'when a batch is printed meanwhile, then its documents are printed, not failed as missing',
  async () => {
    await own.noticeNoMajority(next);
    const client_id = (await send('POST', '/api/v1/clients', { body: ada })).body.data.id;
    const body = { client_id, amount: 10, due_date: '2031-01-01' };
    const invoice = (await send('POST', '/api/v1/invoices', { body })).body.data;
    const batch = await claimedBatchOf(invoice.id);
    await own.elect(next);

    const printed: string[] = [];
    const print = (async ({ document }) => {
      printed.push(document.number);
      return { bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] };
    }) as PrintDocument;
    const printing = printSlice(batch, { print, signal: new AbortController().signal });
    await pause(QUIET_MS);
    await own.noticeMajority();
    await printing;

    expect(batch.documents).toMatchObject([{ status: 'done' }]);
    expect(printed).toEqual([invoice.invoice_number]);
  },
  LIMIT_MS,
);

test.each([
  ['and nothing was sent, then it is read once more', false, 2],
  ['and the response was sent, then it is not read again', true, 1],
])(
  'when the primary changes while something is read %s',
  async (_case, isFinal, times) => {
    let count = 0;
    const read = async () => {
      count += 1;
      if (count === 1) {
        await own.elect(next);
        await driverKnows(next);
      }
      return count;
    };

    expect(await readAfterElection(read, () => isFinal)).toBe(times);
  },
  LIMIT_MS,
);

async function driverKnows(member: Member) {
  const { me } = await member.command({ hello: 1 });
  await eventually(async () => {
    const hello = await mongoose.connection.db?.command({ hello: 1 });
    return hello?.['me'] === me && hello?.['isWritablePrimary'];
  });
}

test(
  'when an Idempotency-Key is repeated while a majority does not have the first write yet, then 409 with Retry-After',
  async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    for (const each of [gateway, other]) expect((await each?.send('GET', '/api/v1/clients'))?.status).toBe(200);
    await replicate(false);
    const first = send('POST', '/api/v1/clients', { body: late, headers });
    try {
      const isWritten = () =>
        Client.findOne({ account_id: accountId, email: 'late@example.com' }).readConcern('local').lean();
      await eventually(isWritten);
      const second = await sendToOther('POST', '/api/v1/clients', { body: late, headers });

      expect(second).toMatchObject({ status: 409 });
      expect(second.headers.get('retry-after')).toBe('1');
    } finally {
      await replicate(true);
    }
    await first;
    const third = await eventually(async () => {
      const reply = await send('POST', '/api/v1/clients', { body: late, headers });
      return reply.status === 201 && reply;
    });
    const list = await send('GET', '/api/v1/clients?q=late@example.com');
    expect(list.body.data).toMatchObject([{ id: third.body.data.id }]);
  },
  LIMIT_MS,
);

test(
  'when the primary steps down with a write that no majority has, and no primary can look up its key, then 503 says that the outcome is unknown',
  async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const body = { name: 'Unknown', email: 'unknown@example.com' };
    const primary = await own.set.primary();
    await replicate(false);
    try {
      const response = send('POST', '/api/v1/clients', { body, headers });
      const isWritten = () => Client.findOne({ account_id: accountId, email: body.email }).readConcern('local').lean();
      await eventually(isWritten);
      await primary.command({ replSetStepDown: 60, secondaryCatchUpPeriodSecs: 0, force: true });

      expect(await response).toMatchObject({
        status: 503,
        body: { error: 'It is not known whether the change was stored, please check' },
      });
    } finally {
      for (const member of own.set.members)
        await member.command({ configureFailPoint: 'rsSyncApplyStop', mode: 'off' });
      await own.elect(next);
    }
    const again = await eventually(async () => {
      const reply = await send('POST', '/api/v1/clients', { body, headers });
      return reply.status === 201 && reply;
    });
    const list = await send('GET', `/api/v1/clients?q=${body.email}`);
    expect(list.body.data).toMatchObject([{ id: again.body.data.id }]);
  },
  LIMIT_MS,
);

/** Creates one record of each kind, linked to each other. @returns their paths. */
async function makeOneOfEach() {
  const make = async (kind: string, body: object): Promise<string> =>
    (await send('POST', `/api/v1/${kind}`, { body })).body.data.id;
  const client_id = await make('clients', ada);
  const project_id = await make('projects', { name: 'House', client_id });
  const task_id = await make('tasks', { name: 'Drawings', project_id });
  const ids = {
    clients: client_id,
    projects: project_id,
    tasks: task_id,
    'time-entries': await make('time-entries', { project_id, date: '2026-01-01', hours: 1 }),
    quotes: await make('quotes', { client_id, amount: 10 }),
    invoices: await make('invoices', { client_id, amount: 10, due_date: '2031-01-01' }),
  };
  return (kind: keyof typeof ids) => `/api/v1/${kind}/${ids[kind]}`;
}

test.each([
  ['invoices', { amount: 20 }, 'clients', 'client'],
  ['quotes', { amount: 20 }, 'clients', 'client'],
  ['projects', { name: 'Barn' }, 'clients', 'client'],
  ['tasks', { name: 'Plans' }, 'projects', 'project'],
  ['time-entries', { hours: 2 }, 'projects', 'project'],
] as const)(
  'when %s change to %j after %s, and a majority has neither yet, then the later event has the change of the earlier one',
  async (kind, body, renamed, field) => {
    const pathOf = await makeOneOfEach();
    const latest = () =>
      StoredEvent.find({ account_id: accountId }).sort({ sequence: -1 }).limit(2).readConcern('local').lean();
    const [known] = await latest();
    const isWritten = (events: number) =>
      eventually(async () => (await latest())[0]?.sequence === Number(known?.sequence) + events);
    await replicate(false);
    const replies = [send('PATCH', pathOf(renamed), { body: { name: 'Renamed' } })];
    try {
      await isWritten(1);
      replies.push(sendToOther('PATCH', pathOf(kind), { body }));
      await isWritten(2);
    } finally {
      await replicate(true);
    }

    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200]);
    const [later, earlier] = (await latest()).map(({ body }) => JSON.parse(body).data);
    expect(earlier.name).toBe('Renamed');
    expect(later[field].name).toBe('Renamed');
  },
  LIMIT_MS,
);

test(
  'when a member is lost, then the doctor names the members and their versions',
  async () => {
    const found = async () => (await examineMongodb()).find(({ check }) => check === 'MongoDB versions');
    const { status, found: all } = (await found()) ?? {};
    await next.kill();
    const without = await found();
    await next.start();
    await own.set.whole();

    expect([status, all]).toEqual(['ok', expect.stringMatching(/^\d+\.\d+\.\d+ on all 3 members$/)]);
    expect(without).toMatchObject({ status: 'warning', found: expect.stringMatching(/127\.0\.0\.1:\d+ unknown/) });
  },
  LIMIT_MS,
);

/** Already claimed, so that no gateway takes it. */
async function claimedBatchOf(invoiceId: string): Promise<ClaimedBatch> {
  const batch: BatchRecord = {
    ...newRecord(accountId),
    status: 'processing',
    kinds: ['invoice'],
    looks: { style: 'elegant', layout: 'standard', banner: true, accessible: false, signature: false },
    documents: [{ kind: 'invoice', document_id: storedId(invoiceId), number: 1, status: 'queued' }],
    total: 1,
    done: 0,
    failed: 0,
    request_id: 'test',
    due_at: new Date(Date.now() + LIMIT_MS),
    lease_id: 'ours',
    expires_at: new Date(Date.now() + 2 * BATCH_KEPT_MS),
  };
  await inTransaction((session) => insertOwn(DocumentBatch, batch, session));
  return { ...batch, lease_id: 'ours' };
}
