// The victims: two accounts that do ordinary work at an ordinary pace, and how long they wait for it.
import { setTimeout as pause } from 'node:timers/promises';
import { callerOf } from '../../test/support/gateway.ts';
import { pdfOf } from '../../test/support/pdf-body.ts';

export interface Waits {
  records: number[];
  documents: number[];
  /** Responses that are not what was asked for, by status; 0 is a connection that ended. */
  refused: Map<number, number>;
}

export const noWaits = (): Waits => ({ records: [], documents: [], refused: new Map() });

/** Adds what a further round measured. */
export function addWaits(sum: Waits, more: Waits): void {
  sum.records.push(...more.records);
  sum.documents.push(...more.documents);
  for (const [status, count] of more.refused) sum.refused.set(status, (sum.refused.get(status) ?? 0) + count);
}

const RECORDS_EVERY_MS = 100;
/** Below the 120 documents a minute that a key may have. */
const DOCUMENTS_EVERY_MS = 600;
const LIMIT_MS = 60_000;

/** Each account works for so long and waits for what is under way. A request does not wait for the one before it. */
export async function work(url: string, keys: readonly string[], ms: number): Promise<Waits> {
  const waits = noWaits();
  // Apart by a part of the interval: they do not ask at the same moment.
  const apart = keys.map((key, index) => ({ key, startMs: (index * RECORDS_EVERY_MS) / keys.length }));
  await Promise.all(apart.map(({ key, startMs }) => pause(startMs).then(() => workOf(callerOf(url, key), ms, waits))));
  return waits;
}

async function workOf(call: ReturnType<typeof callerOf>, ms: number, waits: Waits): Promise<void> {
  const timed = async (kind: 'records' | 'documents', method: string, path: string, body?: object) => {
    const startedAt = performance.now();
    const headers = { Connection: 'keep-alive' };
    const reply = call(method, path, { headers, ...(body ? { body } : {}) }).then(({ status }) => status);
    const status = await Promise.race([reply.catch(() => 0), pause(LIMIT_MS, 0, { ref: false })]);
    waits[kind].push(performance.now() - startedAt);
    if (status !== 200 && status !== 201) waits.refused.set(status, (waits.refused.get(status) ?? 0) + 1);
  };
  const underWay: Promise<void>[] = [];
  const until = performance.now() + ms;
  const every = async (intervalMs: number, ask: (index: number) => Promise<void>) => {
    for (let index = 0; performance.now() < until; index += 1) {
      underWay.push(ask(index));
      await pause(intervalMs);
    }
  };
  const client = { name: 'Ada Lovelace', email: 'ada@example.com' };
  await Promise.all([
    every(RECORDS_EVERY_MS, (index) =>
      index % 4 === 0
        ? timed('records', 'POST', '/api/v1/clients', client)
        : timed('records', 'GET', '/api/v1/clients?limit=10'),
    ),
    every(DOCUMENTS_EVERY_MS, () => timed('documents', 'POST', '/api/tools/generate-pdf', pdfOf('Invoice'))),
  ]);
  await Promise.all(underWay);
}

/** @returns NaN when there is nothing to judge. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
