// One leg of a soak: load on accounts of its own, looked at all the while, and every oracle at its end.
import { join } from 'node:path';
import mongoose from 'mongoose';
import { storedId } from '#libs/models/tenant.ts';
import { chanceOf } from '../../test/support/chance.ts';
import { type Breach, type Kind, openJournal } from '../../test/support/faults/journal.ts';
import { openAccounts } from '../../test/support/faults/load/accounts.ts';
import { openLoad, p99 } from '../../test/support/faults/load/load.ts';
import { judgeAll } from '../../test/support/faults/oracles/judge-all.ts';
import { ACCOUNTS, LATEST_MS, LEASE_MS, longest } from '../../test/support/faults/round.ts';
import type { RoundFacts } from '../../test/support/faults/round-facts.ts';
import type { Session } from '../../test/support/faults/run-faults.ts';
import { openLooks } from './looks.ts';

export interface LegOptions {
  session: Session;
  seed: number;
  /** Tells legs under one seed apart. */
  name: string;
  /** Called with figures as they grow. */
  watcher: LegWatcher;
}

interface LegWatcher {
  counted(counts: LegCounts): void;
  breached(breaches: readonly Breach[]): void;
}

export interface LegCounts {
  requests: number;
  refused: number;
  unanswered: number;
  documents: number;
  events: number;
  deliveries: number;
}

export interface LegResult {
  name: string;
  counts: LegCounts;
  twice: number;
  breaches: readonly Breach[];
  /** In the first and in the last seconds of the leg. */
  calmMs: Record<Kind, number>;
  afterMs: Record<Kind, number>;
  longestMs: Record<Kind, number>;
}

const COUNT_MS = 1_000;

/** @param act lets things happen under the load; @returns when all is well again. The first and the last `calmSeconds` of it are the measure. */
export async function runLeg(
  { session, seed, name, watcher }: LegOptions,
  calmSeconds: number,
  act: (facts: RoundFacts) => Promise<void>,
): Promise<LegResult> {
  const { system, rates, baseline, logs } = session;
  const accounts = await openAccounts(system, ACCOUNTS, chanceOf(seed, name));
  const journal = openJournal(join(system.folder, 'journal.ndjson'));
  const load = openLoad({ system, accounts, journal, rates, seed, name, latestMs: () => LATEST_MS });
  const facts: RoundFacts = { system, accounts, load, journal, webhookKills: 0, mayForgetAttempts: false };
  let events = 0;
  const looks = openLooks(facts, logs);
  const counting = setInterval(() => {
    watcher.counted(countsOf());
    watcher.breached(journal.breaches);
  }, COUNT_MS);

  function countsOf(): LegCounts {
    const { samples } = load;
    const count = (is: (status: number | undefined) => boolean) => samples.filter(({ status }) => is(status)).length;
    const paths = accounts.flatMap(({ endpoints }) => endpoints.map(({ path }) => path));
    return {
      requests: samples.length,
      refused: count((status) => status !== undefined && status >= 500),
      unanswered: count((status) => status === undefined),
      documents: samples.filter(({ kind, status }) => kind === 'documents' && status === 200).length,
      events: Math.max(events, load.records.records.filter(({ id }) => id).length),
      deliveries: paths.reduce((sum, path) => sum + (system.town.taken.get(path)?.length ?? 0), 0),
    };
  }

  try {
    const from = performance.now();
    load.start();
    looks.start();
    await act(facts);
    const to = performance.now();
    await load.pause();
    await looks.stop();
    await system.ready();
    if (longest(load.samples) > LEASE_MS / 2) facts.mayForgetAttempts = true;
    const { twice } = await judgeAll(facts, { baseline, logs });
    const ids = accounts.map(({ id }) => storedId(id));
    events = await mongoose.connection.collection('events').countDocuments({ account_id: { $in: ids } } as object);
    const calmMs = calmSeconds * 1_000;
    const { samples } = load;
    return {
      name,
      counts: countsOf(),
      twice,
      breaches: journal.breaches,
      calmMs: ofBoth((kind) => p99(samples, kind, from, from + calmMs)),
      afterMs: ofBoth((kind) => p99(samples, kind, to - calmMs, to)),
      longestMs: ofBoth((kind) => longest(samples.filter((one) => one.kind === kind))),
    };
  } finally {
    clearInterval(counting);
    watcher.counted(countsOf());
    watcher.breached(journal.breaches);
    await looks.stop();
    await load.close();
    journal.close();
    system.town.forget(accounts.flatMap(({ endpoints }) => endpoints.map(({ path }) => path)));
  }
}

function ofBoth<Value>(value: (kind: Kind) => Value): Record<Kind, Value> {
  return { records: value('records'), documents: value('documents') };
}
