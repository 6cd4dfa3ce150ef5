// Ours beside a bare server, in bursts of both in turn.
import { median } from 'es-toolkit/math/median';
import { type Burst, burst, type Work } from './load.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';
import type { ServerProcess } from './server-process.ts';

const ROUNDS = 5;
const SECONDS = 3;
/** Code gets faster over its first ten thousand runs, and ours is more of it than the floor's. */
const WARMING_SECONDS = 8;

export interface Sides {
  ours: ServerProcess;
  floor: ServerProcess;
}

/** Bursts of both sides in turn, so that whatever else the machine does hits both. */
export async function compare(sides: Sides, work: Work, least: number): Promise<Row[]> {
  progress(`bench: ${work.name}, warming up`);
  await burst(sides.ours, work, { seconds: WARMING_SECONDS });
  await burst(sides.floor, work, { seconds: WARMING_SECONDS });
  const ours: Burst[] = [];
  const floor: Burst[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    progress(`bench: ${work.name}, round ${round} of ${ROUNDS}`);
    ours.push(await burst(sides.ours, work, { seconds: SECONDS }));
    floor.push(await burst(sides.floor, work, { seconds: SECONDS }));
  }
  const figure = (bursts: Burst[], pick: (one: Burst) => number) => median(bursts.map(pick));
  const both = (pick: (one: Burst) => number) => [figure(ours, pick), figure(floor, pick)] as const;
  return [
    row(work.name, '/s', ...both(({ perSecond }) => perSecond), ['≥', least]),
    row(`${work.name}, p99`, 'ms', ...both(({ p99 }) => p99), ['≤', 2]),
    row(`${work.name}, processor`, 'ms', ...both(({ cpuMsEach }) => cpuMsEach)),
  ];
}
