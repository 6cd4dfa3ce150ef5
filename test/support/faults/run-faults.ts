// Starts a system, runs the rounds on it one after the other, and looks at the end whether anything was left behind.
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Fault, seconds } from './fault.ts';
import type { Breach } from './journal.ts';
import type { Rates } from './load/load.ts';
import { openLogReader, type ReadLogs } from './oracles/oracle-logs.ts';
import { type Baseline, measureBaseline, repliesLeft } from './oracles/oracle-processes.ts';
import { type RoundResult, runRound } from './round.ts';
import { type FaultSystem, startFaultSystem } from './system/fault-system.ts';

export interface FaultRun {
  seed: number;
  isShort: boolean;
  rates: Rates;
  description: string;
  startedAt: Date;
  minutes: number;
  results: RoundResult[];
  /** Breaches that were found at the end and belong to no single round. */
  breaches: Breach[];
}

export interface SessionOptions {
  seed: number;
  isShort: boolean;
  rates?: Rates;
  /** Keeps journal and logs here. */
  keep?: string | undefined;
  say?: (line: string) => void;
  /** Where the folder of the system is made, the temporary folder unless said. */
  root?: string;
}

/** A system that runs, and what rounds on it have in common. */
export interface Session {
  system: FaultSystem;
  rates: Rates;
  /** The state before the first round, which the oracles compare with. */
  baseline: Baseline;
  logs: ReadLogs;
  /** Makes one round with these faults. @param turn tells rounds with the same faults apart. */
  run(faults: readonly Fault[], turn?: number): Promise<RoundResult>;
  close(): Promise<void>;
}

const SHORT_RATES: Rates = { records: 5, events: 0.5, documents: 1 };
const WHOLE_RATES: Rates = { records: 40, events: 5, documents: 2 };

/** Election timeout of the plan of the tests. With a shorter one, a busy machine elects without a fault. */
const ELECTION_MS = 2_000;
const ELECTION_SHORT_MS = 5_000;
const REPLY_LIFE_SECONDS = 60;

export async function openSession({ seed, isShort, keep, root, ...rest }: SessionOptions): Promise<Session> {
  const say = rest.say ?? (() => undefined);
  const rates = rest.rates ?? (isShort ? SHORT_RATES : WHOLE_RATES);
  const electionTimeoutMs = isShort ? ELECTION_SHORT_MS : ELECTION_MS;
  const system = await startFaultSystem({ seed, electionTimeoutMs, note: () => undefined, root });
  async function close() {
    if (keep) await keepLogs(system.folder, keep);
    await system.close();
  }
  try {
    await system.ready();
    const baseline = await measureBaseline(system);
    const logs = openLogReader();
    return {
      system,
      rates,
      baseline,
      logs,
      run: (faults, turn = 1) => runRound({ system, faults, seed, turn, rates, isShort, baseline, logs, say }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface RunOptions extends SessionOptions {
  faults: readonly Fault[];
  rounds: number;
  say: (line: string) => void;
}

export async function runFaults({ faults, rounds, say, ...options }: RunOptions): Promise<FaultRun> {
  const startedAt = new Date();
  const { seed, isShort } = options;
  say(`seed ${seed}; starting a system`);
  const session = await openSession({ ...options, say: (text) => say(`     ${text}`) });
  const { system, rates } = session;
  const results: RoundResult[] = [];
  const breaches: Breach[] = [];
  try {
    say(system.description);
    for (let turn = 1; turn <= rounds; turn += 1) {
      for (const fault of faults) {
        say(`${fault.id} ${fault.title}`);
        const result = await session.run([fault], turn);
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
    await session.close();
  }
  const minutes = (Date.now() - startedAt.getTime()) / 60_000;
  return { seed, isShort, rates, description: system.description, startedAt, minutes, results, breaches };
}

async function keepLogs(from: string, to: string) {
  await mkdir(to, { recursive: true });
  const names = (await readdir(from)).filter((name) => /\.(log|ndjson)$/.test(name));
  await Promise.all(names.map((name) => copyFile(join(from, name), join(to, name))));
}

function verdictOf({ breaches, requests, documents, events, recoverySeconds, seconds: took }: RoundResult): string {
  const counts = `${requests} requests, ${documents} documents, ${events} webhooks, well after ${recoverySeconds.toFixed(1)} s, took ${took.toFixed(0)} s`;
  if (breaches.length === 0) return `all is well: ${counts}`;
  const told = breaches.slice(0, 10).map(({ oracle, text }) => `     ${oracle}: ${text.slice(0, 600)}`);
  return [`${breaches.length} BREACHES: ${counts}`, ...told].join('\n');
}
