// Months go by for a fleet of schedulers that are killed at random: every occurrence must be made, and none twice.
import { setTimeout as pause } from 'node:timers/promises';
import { addDays } from '#libs/day.ts';
import { occurrence } from '#libs/rules/time/recurrence.ts';
import { chanceOf } from '../chance.ts';
import { brokenOccurrences, countMade, openRecurringWorld } from './recurring-world.ts';
import { startFleet } from './scheduler-fleet.ts';

const FIRST = '2031-01-31';
/** The day after, everywhere. */
const ALL_ZONES_DAYS = 2;
/** Rounds without an invoice until what is missing counts as lost: half a minute. */
const ROUNDS_MAX = 5_000;

export interface KilledSchedulers {
  invoices: number;
  kills: number;
  broken: string[];
}

export interface Trial {
  mongodbUri: string;
  schedulers: number;
  accounts: number;
  definitions: number;
  months: number;
  /** Kills while the invoices of one moment are made. */
  killsEach: number;
  seed: number;
  onMonth?(month: number, made: number): void;
}

/** Sometimes two or three months pass at once, as after a downtime. */
export async function killSchedulers({ onMonth, ...trial }: Trial): Promise<KilledSchedulers> {
  const chance = chanceOf(trial.seed, 'schedulers');
  const world = await openRecurringWorld({ ...trial, first: FIRST });
  const fleet = await startFleet(trial.mongodbUri, trial.schedulers);
  let kills = 0;
  try {
    for (let month = 0; month < trial.months; ) {
      const before = await countMade(world);
      month = Math.min(trial.months, month + (chance.happens(0.2) ? chance.whole(2, 3) : 1));
      const last = occurrence({ every: 1, unit: 'month', start_on: FIRST }, month - 1)?.on ?? FIRST;
      fleet.setTime(new Date(`${addDays(last, ALL_ZONES_DAYS)}T12:00:00Z`));
      const wanted = trial.definitions * month;
      // Each kill somewhere between the first and the last invoice of this moment.
      for (let kill = 1; kill <= trial.killsEach; kill += 1) {
        const share = (kill - chance.next()) / trial.killsEach;
        while ((await countMade(world)) < before + share * (wanted - before)) await pause(1);
        await pause(chance.whole(0, 8));
        fleet.kill(chance.whole(0, trial.schedulers - 1));
        kills += 1;
      }
      // One that finds nothing may have left the rest of a downtime to another.
      for (let round = 0; round < ROUNDS_MAX && (await countMade(world)) < wanted; round += 1) await fleet.idle();
      onMonth?.(month, await countMade(world));
    }
    return { invoices: await countMade(world), kills, broken: await brokenOccurrences(world, trial.months) };
  } finally {
    fleet.stop();
  }
}
