// Keeps callers calling at a steady rate, whatever becomes of their calls, and measures how long they wait.
import { Agent } from 'node:http';
import { chanceOf } from '../../chance.ts';
import { eventually } from '../../eventually.ts';
import type { Journal, Kind } from '../journal.ts';
import type { FaultSystem } from '../system/fault-system.ts';
import type { MarkedAccount } from './accounts.ts';
import { type Ask, openAsk } from './ask.ts';
import { type DocumentCalls, openDocumentCalls } from './document-calls.ts';
import { openRecordCalls, type RecordCalls } from './record-calls.ts';

/** Calls per second. */
export interface Rates {
  records: number;
  /** Clients that are created as well: each is an event for every endpoint. */
  events: number;
  documents: number;
}

export interface Sample {
  kind: Kind;
  /** When the answer came, by performance.now(). */
  at: number;
  ms: number;
  /** Absent when there was no answer. */
  status: number | undefined;
}

export interface Load {
  ask: Ask;
  records: RecordCalls;
  documents: DocumentCalls;
  samples: Sample[];
  start(): void;
  /** Waits until this many calls in a row were answered well, of each kind. */
  well(counts: Record<Kind, number>): Promise<void>;
  /** No further calls; waits for the answers that are due. */
  pause(): Promise<void>;
  close(): Promise<void>;
}

export interface LoadOptions {
  system: FaultSystem;
  accounts: readonly MarkedAccount[];
  journal: Journal;
  rates: Rates;
  seed: number;
  name: string;
  /** How late the latest answer may come, by now. */
  latestMs: () => number;
}

/** With so many calls open the next one waits: a system that is slower than the rate is not what this measures. */
const IN_FLIGHT_MAX: Record<Kind, number> = { records: 40, documents: 10 };
const WELL_LIMIT_MS = 150_000;

export function openLoad({ system, accounts, journal, rates, seed, name, latestMs }: LoadOptions): Load {
  const agent = new Agent({ keepAlive: true });
  const samples: Sample[] = [];
  const inARow: Record<Kind, number> = { records: 0, documents: 0 };
  const inFlight: Record<Kind, Set<Promise<unknown>>> = { records: new Set(), documents: new Set() };
  const chance = (of: string) => chanceOf(seed, `${name} ${of}`);
  const ask = openAsk({
    urls: system.gateways.map(({ url }) => url),
    journal,
    chance: chance('gateways'),
    agent,
    latestMs,
    onEnd({ kind, ms, status }) {
      samples.push({ kind, at: performance.now(), ms, status });
      inARow[kind] = status !== undefined && status < 400 ? inARow[kind] + 1 : 0;
    },
  });
  const records = openRecordCalls({ ask, accounts, chance: chance('records'), journal });
  const documents = openDocumentCalls({ ask, accounts, chance: chance('documents') });
  let timers: (NodeJS.Timeout | undefined)[] = [];
  let isStarted = false;

  function repeat(kind: Kind, perSecond: number, act: () => Promise<unknown>) {
    if (perSecond <= 0) return;
    const pauses = chance(`${kind} pauses`);
    const place = timers.push(undefined) - 1;
    const next = () => {
      // The pauses are those between requests of independent callers.
      const waitMs = (-Math.log(1 - pauses.next()) * 1_000) / perSecond;
      timers[place] = setTimeout(() => {
        if (!isStarted) return;
        next();
        if (inFlight[kind].size >= IN_FLIGHT_MAX[kind]) return;
        const calling = act().finally(() => inFlight[kind].delete(calling));
        inFlight[kind].add(calling);
      }, waitMs);
    };
    next();
  }

  async function pause() {
    isStarted = false;
    for (const timer of timers) clearTimeout(timer);
    timers = [];
    await Promise.all([...inFlight.records, ...inFlight.documents]);
  }

  return {
    ask,
    records,
    documents,
    samples,
    start() {
      if (isStarted) return;
      isStarted = true;
      repeat('records', rates.records, () => records.call());
      repeat('records', rates.events, () => records.createClient());
      repeat('documents', rates.documents, () => documents.call());
    },
    async well(counts) {
      Object.assign(inARow, { records: 0, documents: 0 });
      await eventually(
        () => inARow.records >= counts.records && (rates.documents === 0 || inARow.documents >= counts.documents),
        WELL_LIMIT_MS,
      );
    },
    pause,
    async close() {
      await pause();
      agent.destroy();
    },
  };
}

/** The wait that all but one of a hundred calls did not have. NaN without calls. */
export function p99(samples: readonly Sample[], kind: Kind, from = 0, to = Number.POSITIVE_INFINITY): number {
  const waits = samples.filter((one) => one.kind === kind && one.at >= from && one.at < to).map(({ ms }) => ms);
  const sorted = waits.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? Number.NaN;
}
