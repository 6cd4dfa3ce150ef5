// Keeps a system under a steady load for hours, and writes down again and again what it holds.
import { setTimeout as pause } from 'node:timers/promises';
import { seconds } from '../../test/support/faults/fault.ts';
import type { Breach } from '../../test/support/faults/journal.ts';
import type { Rates } from '../../test/support/faults/load/load.ts';
import { repliesLeft } from '../../test/support/faults/oracles/oracle-processes.ts';
import { WELL } from '../../test/support/faults/round.ts';
import { openSession } from '../../test/support/faults/run-faults.ts';
import type { Reading } from '../../test/support/growth.ts';
import { type LegCounts, type LegResult, runLeg } from './leg.ts';
import { read } from './readings.ts';

export interface SoakOptions {
  hours: number;
  seed: number;
  rates: Rates;
  /** Seconds between two readings. */
  every: number;
  /** Minutes until all is quiet for a while and everything is judged: what is kept to judge by must not fill the memory. */
  legMinutes: number;
  keep?: string | undefined;
  onReading: (reading: Reading, counts: LegCounts, breaches: number) => void;
}

export interface SoakRun {
  hours: number;
  seed: number;
  rates: Rates;
  description: string;
  startedAt: Date;
  readings: Reading[];
  legs: LegResult[];
  /** Breaches that belong to no single leg. */
  breaches: Breach[];
}

const CALM_SECONDS = 60;
const REPLY_LIFE_SECONDS = 60;

export async function runSoak(options: SoakOptions): Promise<SoakRun> {
  const { hours, seed, rates, every, legMinutes, keep, onReading } = options;
  const session = await openSession({ seed, isShort: false, rates, keep });
  const { system } = session;
  const startedAt = new Date();
  const readings: Reading[] = [];
  const legs: LegResult[] = [];
  const breaches: Breach[] = [];
  const now: { counts?: LegCounts; breaches: number } = { breaches: 0 };
  const ending = new AbortController();
  const reading = readAgainAndAgain();
  // A caller that awaits the end gets the error.
  reading.catch(() => ending.abort());
  try {
    const count = Math.max(1, Math.round((hours * 60) / legMinutes));
    for (let leg = 1; leg <= count; leg += 1) {
      const watcher = {
        counted: (counts: LegCounts) => void Object.assign(now, { counts }),
        breached: (found: readonly Breach[]) => void Object.assign(now, { breaches: found.length }),
      };
      const name = `soak ${leg}`;
      const result = await runLeg({ session, seed, name, watcher }, CALM_SECONDS, async ({ load }) => {
        await load.well(WELL);
        await seconds((hours * 3_600) / count);
      });
      legs.push(result);
    }
    // At rest it holds less.
    ending.abort();
    await reading;
    await seconds(REPLY_LIFE_SECONDS);
    const left = await repliesLeft(system);
    if (left.length > 0) breaches.push({ oracle: 'O5', text: `${left.length} replies are left in Redis` });
    return { hours, seed, rates, description: system.description, startedAt, readings, legs, breaches };
  } finally {
    ending.abort();
    await session.close();
  }

  async function readAgainAndAgain() {
    while (!ending.signal.aborted) {
      const values = await read(system);
      const one = { hours: (Date.now() - startedAt.getTime()) / 3_600_000, values };
      readings.push(one);
      if (now.counts) onReading(one, now.counts, now.breaches);
      await pause(every * 1_000, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }
}
