// Starts a system, runs the rounds on it one after the other, and looks at the end whether everything earlier is still there.
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Fault, seconds } from './fault.ts';
import { startFaultSystem } from './fault-system.ts';
import type { Breach } from './journal.ts';
import type { Rates } from './load.ts';
import { openLogReader } from './oracle-logs.ts';
import { measureBaseline, repliesLeft } from './oracle-processes.ts';
import { type RoundResult, runRound } from './round.ts';

export interface FaultRun {
  seed: number;
  isShort: boolean;
  rates: Rates;
  description: string;
  startedAt: Date;
  minutes: number;
  results: RoundResult[];
  /** What was found wrong at the end, of no round in particular. */
  breaches: Breach[];
}

export interface RunOptions {
  faults: readonly Fault[];
  seed: number;
  rounds: number;
  isShort: boolean;
  say: (line: string) => void;
  rates?: Rates;
  /** Keeps journal and logs here. */
  keep?: string | undefined;
}

export const SHORT_RATES: Rates = { records: 25, events: 4, documents: 1.5 };
export const WHOLE_RATES: Rates = { records: 40, events: 5, documents: 2 };

/** What the plan of the tests asks for; a busy machine would elect for no reason. */
const ELECTION_MS = 2_000;
const ELECTION_SHORT_MS = 5_000;
const REPLY_LIFE_SECONDS = 60;

export async function runFaults({ faults, seed, rounds, isShort, say, rates, keep }: RunOptions): Promise<FaultRun> {
  const startedAt = new Date();
  const used = rates ?? (isShort ? SHORT_RATES : WHOLE_RATES);
  say(`seed ${seed}; starting a system`);
  const electionTimeoutMs = isShort ? ELECTION_SHORT_MS : ELECTION_MS;
  const system = await startFaultSystem({ seed, electionTimeoutMs, note: () => undefined });
  const results: RoundResult[] = [];
  const breaches: Breach[] = [];
  try {
    await system.ready();
    const baseline = await measureBaseline(system);
    const logs = openLogReader();
    say(system.description);
    for (let turn = 1; turn <= rounds; turn += 1) {
      for (const fault of faults) {
        say(`${fault.id} ${fault.title}`);
        const on = { system, fault, seed, turn, rates: used, isShort, baseline, logs };
        const result = await runRound({ ...on, say: (text) => say(`     ${text}`) });
        results.push(result);
        say(`     ${verdictOf(result)}`);
      }
    }
    if (!isShort) {
      await seconds(REPLY_LIFE_SECONDS);
      const left = await repliesLeft(system);
      if (left.length > 0) breaches.push({ oracle: 'O5', text: `${left.length} replies are left in Redis` });
    }
  } finally {
    if (keep) await keepLogs(system.folder, keep);
    await system.close();
  }
  const minutes = (Date.now() - startedAt.getTime()) / 60_000;
  return { seed, isShort, rates: used, description: system.description, startedAt, minutes, results, breaches };
}

async function keepLogs(from: string, to: string) {
  await mkdir(to, { recursive: true });
  const names = (await readdir(from)).filter((name) => /\.(log|ndjson)$/.test(name));
  await Promise.all(names.map((name) => copyFile(join(from, name), join(to, name))));
}

export function verdictOf({
  breaches,
  requests,
  documents,
  events,
  recoverySeconds,
  seconds: took,
}: RoundResult): string {
  const counts = `${requests} requests, ${documents} documents, ${events} webhooks, well after ${recoverySeconds.toFixed(1)} s, took ${took.toFixed(0)} s`;
  if (breaches.length === 0) return `all is well: ${counts}`;
  const told = breaches.slice(0, 10).map(({ oracle, text }) => `     ${oracle}: ${text.slice(0, 600)}`);
  return [`${breaches.length} BREACHES: ${counts}`, ...told].join('\n');
}
