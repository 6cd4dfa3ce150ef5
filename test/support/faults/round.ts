// One round: load, faults under it one after the other, each with the way back to health, silence, and then every oracle.
import { join } from 'node:path';
import { chanceOf } from '../chance.ts';
import type { Fault } from './fault.ts';
import { seconds } from './fault.ts';
import { type Breach, type Kind, openJournal } from './journal.ts';
import { openAccounts } from './load/accounts.ts';
import { openLoad, p99, type Rates, type Sample } from './load/load.ts';
import { judgeAll } from './oracles/judge-all.ts';
import type { ReadLogs } from './oracles/oracle-logs.ts';
import type { Baseline } from './oracles/oracle-processes.ts';
import type { RoundFacts } from './round-facts.ts';
import type { FaultSystem } from './system/fault-system.ts';

export interface RoundOptions {
  system: FaultSystem;
  /** They happen one after the other; the system has recovered from one before the next begins. */
  faults: readonly Fault[];
  seed: number;
  /** Tells rounds with the same faults apart. */
  turn: number;
  rates: Rates;
  isShort: boolean;
  baseline: Baseline;
  logs: ReadLogs;
  say: (text: string) => void;
}

export interface RoundResult {
  faults: readonly Fault[];
  breaches: readonly Breach[];
  requests: number;
  documents: number;
  events: number;
  twice: number;
  /** Calls that were refused, and calls without an answer, between the first fault and the recovery. */
  refused: Record<Kind, number>;
  unanswered: Record<Kind, number>;
  /** Seconds from the end of a fault until calls of both kinds were answered well again and again, the longest of the round. */
  recoverySeconds: number;
  /** Before the fault, and in the calm after it. */
  calmMs: Record<Kind, number>;
  afterMs: Record<Kind, number>;
  longestMs: Record<Kind, number>;
  seconds: number;
  said: readonly string[];
}

export const ACCOUNTS = 4;
/** The longest deadline is 30 s. On a machine that is busy with other suites only a hang is later than the second. */
export const LATEST_MS = 31_000;
const LATEST_SHORT_MS = 55_000;
/** A request to a paused gateway gets its response when the gateway continues. */
const LATE_MS = 120_000;
/** Three timeouts of an attempt and five seconds, as the webhook service has it. */
export const LEASE_MS = 17_000;
/** So many good answers in a row say that all is well. */
export const WELL = { records: 40, documents: 4 };
/** On a machine that is busy with other suites some calls are refused without any fault; a fault that is noticed is noticed by many. */
const TOLERATED_SHORT = 0.05;
const TELLING_MS = 2_000;
const WELL_SHORT = { records: 12, documents: 2 };

export async function runRound(options: RoundOptions): Promise<RoundResult> {
  const { system, faults, seed, turn, rates, isShort, baseline, logs } = options;
  const startedAt = performance.now();
  const name = [...faults.map(({ id, title }) => `${id} ${title}`), turn].join(' ');
  const chance = chanceOf(seed, name);
  const accounts = await openAccounts(system, ACCOUNTS, chance);
  const journal = openJournal(join(system.folder, 'journal.ndjson'));
  const latestMs = faults.some(({ mayBeLate }) => mayBeLate) ? LATE_MS : isShort ? LATEST_SHORT_MS : LATEST_MS;
  const load = openLoad({ system, accounts, journal, rates, seed, name, latestMs: () => latestMs });
  const facts: RoundFacts = {
    system,
    accounts,
    load,
    journal,
    webhookKills: 0,
    mayForgetAttempts: faults.some(({ isMongodb }) => isMongodb === true),
  };
  const said: string[] = [];
  const say = (text: string) => {
    said.push(text);
    options.say(text);
  };

  try {
    load.start();
    await load.well(isShort ? WELL_SHORT : WELL);
    if (!isShort) await seconds(5);
    const term = await system.mongodb.term();
    const brokenAt = performance.now();
    const periods: { fault: Fault; from: number; to: number }[] = [];
    let recoverySeconds = 0;
    for (const fault of faults) {
      const from = performance.now();
      system.town.isUnwell = true;
      await fault.run({
        ...{ system, load, accounts, journal, chance, isShort, say },
        noteWebhookKill() {
          facts.webhookKills += 1;
        },
      });
      const healedAt = performance.now();
      system.town.isUnwell = false;
      await load
        .well(isShort ? WELL_SHORT : WELL)
        .catch(() => journal.breach('O6', `after ${fault.id} it did not become well again`));
      const to = performance.now();
      recoverySeconds = Math.max(recoverySeconds, (to - healedAt) / 1_000);
      periods.push({ fault, from, to });
    }
    const wellAt = performance.now();
    if (!isShort) await seconds(10);
    await load.pause();
    const endedAt = performance.now();

    await system.ready();
    // A spontaneous election on a busy machine excuses rejections, which would have happened without the fault.
    const isElected = (await system.mongodb.term()) !== term;
    // When calls are this slow without a fault, its effect cannot be judged.
    const isTooSlow = isShort && p99(load.samples, 'records', 0, brokenAt) > TELLING_MS;
    if (isTooSlow) say('the machine is too busy to tell who noticed the fault');
    if (isElected) facts.mayForgetAttempts = true;
    else if (!isTooSlow) {
      const tolerated = isShort ? TOLERATED_SHORT : 0;
      for (const { fault, from, to } of periods) judgeSpared(facts, fault, { from, to, tolerated });
    }
    // On a machine where calls take this long, leases expire while their owners still work.
    if (longest(load.samples) > LEASE_MS / 2) facts.mayForgetAttempts = true;
    const documents = load.documents.printed.length;
    const { twice } = await judgeAll(facts, { baseline, logs });

    const { samples } = load;
    const count = (isCounted: (status: number | undefined) => boolean) =>
      ofBoth(
        (kind) => samples.filter((one) => one.kind === kind && one.at >= brokenAt && isCounted(one.status)).length,
      );
    return {
      faults,
      breaches: journal.breaches,
      requests: samples.length,
      documents,
      events: [...system.town.taken.values()].reduce((sum, calls) => sum + calls.length, 0),
      twice,
      refused: count((status) => status !== undefined && status >= 500),
      unanswered: count((status) => status === undefined),
      recoverySeconds,
      calmMs: ofBoth((kind) => p99(samples, kind, 0, brokenAt)),
      afterMs: ofBoth((kind) => p99(samples, kind, wellAt, endedAt)),
      longestMs: ofBoth((kind) => longest(samples.filter((one) => one.kind === kind))),
      seconds: (performance.now() - startedAt) / 1_000,
      said,
    };
  } finally {
    await load.close();
    journal.close();
    system.town.isUnwell = false;
    system.town.forget(accounts.flatMap(({ endpoints }) => endpoints.map(({ path }) => path)));
  }
}

export const longest = (samples: readonly Sample[]) => samples.reduce((most, { ms }) => Math.max(most, ms), 0);

function judgeSpared(
  { load, journal }: RoundFacts,
  fault: Fault,
  { from, to, tolerated }: { from: number; to: number; tolerated: number },
) {
  for (const kind of fault.spares) {
    const calls = load.samples.filter(({ kind: of, at }) => of === kind && at >= from && at <= to);
    const noticed = calls.filter(({ status }) => status === undefined || status >= 500);
    if (noticed.length <= calls.length * tolerated) continue;
    const statuses = noticed.map(({ status, ms }) => `${status ?? 'no answer'} after ${ms} ms`);
    journal.breach(
      'O6',
      `${noticed.length} of ${calls.length} calls for ${kind} noticed ${fault.id}: ${statuses.slice(0, 5).join(', ')}`,
    );
  }
}

function ofBoth<Value>(value: (kind: Kind) => Value): Record<Kind, Value> {
  return { records: value('records'), documents: value('documents') };
}
