// Measures for docs/scale.md how many bytes of disk MongoDB takes for what an account stores: real records of one account, copied to many.
import { Binary, UUID } from 'mongodb';
import mongoose from 'mongoose';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { startGateway } from '../../test/support/gateway.ts';
import { useBackends } from './bench-workspace.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';

export interface DiskUse {
  records: number;
  /** Bytes of documents, before compression. */
  documentBytes: number;
  indexBytes: number;
  /** Bytes of files for documents and indexes. */
  diskBytes: number;
}

const INVOICES = 150;
const SIZES = [100_000, 1_000_000];
const ACCOUNTS_AT_ONCE = 5;
/** Few records of an account, which are unique over all accounts or expire. */
const NOT_COPIED = ['api_keys', 'idempotency_records'];

/** Copies the records until there are as many as each of the sizes. @returns a row for each. */
export async function measureDisk(options: BenchOptions): Promise<DiskUse[]> {
  useBackends(options);
  const gateway = await startGateway();
  await ensureIndexes();
  try {
    const accountId = await fillAccount(gateway);
    const own = await recordsOf(accountId);
    const each = [...own.values()].reduce((sum, { length }) => sum + length, 0);
    const rows: DiskUse[] = [];
    let copies = 1;
    for (const size of SIZES) {
      for (; copies * each < size; copies += ACCOUNTS_AT_ONCE) {
        progress(`disk: ${(copies * each).toLocaleString('en')} of ${size.toLocaleString('en')} records`);
        await copy(own);
      }
      rows.push({ records: copies * each, ...(await bytesOfDatabase()) });
    }
    return rows;
  } finally {
    await gateway.close();
  }
}

type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** Has the gateway store what a month of an account leaves, so that every record is as the API stores it. */
async function fillAccount(gateway: Gateway): Promise<string> {
  const post = async (path: string, body: object) => {
    const { status, body: made } = await gateway.post(`/api/v1${path}`, body);
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(made)}`);
    return made.data.id as string;
  };
  const client_id = await post('/clients', { name: 'Ada Lovelace', email: 'ada@example.com', city: 'London' });
  const project_id = await post('/projects', { name: 'Mill', client_id, hourly_rate: 90 });
  for (let index = 0; index < INVOICES; index += 1) {
    await post('/time-entries', {
      project_id,
      hours: 1 + (index % 7) / 4,
      date: '2026-01-02',
      description: `Drawing ${index} of the mill`,
    });
    const line_items = [{ description: `Drawings ${index}`, qty: 1 + (index % 5), rate: 90.5 + index }];
    const invoice = { client_id, line_items, tax_rate: 20, due_date: '2099-12-31', status: 'Sent' };
    const id = await post('/invoices', invoice);
    if (index % 3 > 0) await post(`/invoices/${id}/payments`, {});
  }
  return gateway.account.id;
}

async function recordsOf(accountId: string): Promise<Map<string, object[]>> {
  const database = mongoose.connection.db;
  const names = (await database?.listCollections().toArray())?.map(({ name }) => name) ?? [];
  const found = new Map<string, object[]>();
  for (const name of names) {
    const records = await database
      ?.collection(name)
      .find({ account_id: new UUID(accountId) })
      .toArray();
    if (records && records.length > 0 && !NOT_COPIED.includes(name)) found.set(name, records);
  }
  return found;
}

/** Inserts the records of some accounts more. Every id gets a new value, the same in all records of its account. */
async function copy(own: ReadonlyMap<string, object[]>): Promise<void> {
  const ids = Array.from({ length: ACCOUNTS_AT_ONCE }, () => new Map<string, UUID>());
  for (const [name, records] of own) {
    const copies = ids.flatMap((known) => records.map((record) => withNewIds(record, known)));
    await mongoose.connection.db?.collection(name).insertMany(copies as never[], { ordered: false });
  }
}

function withNewIds(value: unknown, known: Map<string, UUID>): unknown {
  if (value instanceof Binary && value.sub_type === Binary.SUBTYPE_UUID) {
    const id = value.toString('hex');
    const next = known.get(id) ?? new UUID();
    known.set(id, next);
    return next;
  }
  if (Array.isArray(value)) return value.map((one) => withNewIds(one, known));
  if (!value || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withNewIds(one, known)]));
}

async function bytesOfDatabase(): Promise<Omit<DiskUse, 'records'>> {
  const database = mongoose.connection.db;
  await database?.admin().command({ fsync: 1 });
  const stats = await database?.command({ dbStats: 1 });
  const number = (name: string) => Number(stats?.[name]);
  return {
    documentBytes: number('dataSize'),
    indexBytes: number('indexSize'),
    diskBytes: number('storageSize') + number('indexSize'),
  };
}

/** Prints the table of docs/scale.md, to be pasted there. */
export function printDisk(rows: readonly DiskUse[]): void {
  const lines = rows.map(({ records, documentBytes, indexBytes, diskBytes }) =>
    [
      records.toLocaleString('en'),
      ...[documentBytes, indexBytes, diskBytes].map((bytes) => `${Math.round(bytes / records)} B`),
    ].join(' | '),
  );
  process.stdout.write(
    '\nWhat a record takes on the disk of one member\n\n| Records | document | indexes | on disk |\n| ---: | ---: | ---: | ---: |\n',
  );
  for (const line of lines) process.stdout.write(`| ${line} |\n`);
}
