// Keeps a system under load and breaks it again and again, several things at a time, and judges it in the silences between.
import { chanceOf } from '../faults/chance.ts';
import { seconds } from '../faults/fault.ts';
import { type LegResult, runLeg } from '../faults/leg.ts';
import type { Rates } from '../faults/load.ts';
import { repliesLeft } from '../faults/oracle-processes.ts';
import { LATE_MS, LATEST_MS, WELL } from '../faults/round.ts';
import type { RoundFacts } from '../faults/round-facts.ts';
import { openSession } from '../faults/run-faults.ts';
import { mayBegin, planOf, type Step } from './storm-plan.ts';
import { type StormState, say, watcherOf } from './storm-state.ts';

export interface StormOptions {
  rates: Rates;
  /** So many faults at a time at most. */
  atOnce: number;
  keep?: string | undefined;
}

const CALM_SECONDS = 10;
const REPLY_LIFE_SECONDS = 60;

/** All that is not in the legs is in the state. */
export async function runStorm(state: StormState, { rates, atOnce, keep }: StormOptions): Promise<LegResult[]> {
  const { seed, minutes, legs } = state;
  const session = await openSession({ seed, isShort: false, rates, keep });
  state.description = session.system.description;
  const plan = planOf(seed);
  const results: LegResult[] = [];
  let lateUntil = 0;
  try {
    for (state.leg = 1; state.leg <= legs; state.leg += 1) {
      const name = `storm ${state.leg}`;
      const watcher = watcherOf(state);
      const latestMs = () => (performance.now() < lateUntil ? LATE_MS : LATEST_MS);
      const result = await runLeg({ session, seed, name, latestMs, watcher }, CALM_SECONDS, async (facts) => {
        state.phase = 'calm';
        await facts.load.well(WELL);
        await seconds(CALM_SECONDS);
        state.phase = 'storm';
        await rage(facts, performance.now() + (minutes * 60_000) / legs);
        state.phase = 'getting well';
        const healedAt = performance.now();
        await facts.load.well(WELL).catch(() => facts.journal.breach('O6', 'it did not become well again'));
        say(state, `well ${((performance.now() - healedAt) / 1_000).toFixed(1)} s after the last fault`);
        await seconds(CALM_SECONDS);
        state.phase = 'judging';
      });
      results.push(result);
    }
    state.leg = legs;
    // The callers of the last replies have disconnected: the replies must expire within a minute.
    await seconds(REPLY_LIFE_SECONDS);
    const left = await repliesLeft(session.system);
    if (left.length > 0) state.breaches.push({ oracle: 'O5', text: `${left.length} replies are left in Redis` });
  } finally {
    state.phase = 'over';
    await session.close();
  }
  return results;

  async function rage(facts: RoundFacts, until: number) {
    const going = new Map<Step, Promise<void>>();
    while (performance.now() < until) {
      const step = plan.next().value;
      await seconds(step.waitSeconds);
      while (!mayBegin(step, [...going.keys()], atOnce)) await Promise.race(going.values());
      if (step.isAlone) await facts.load.well(WELL).catch(() => undefined);
      if (performance.now() >= until) break;
      facts.system.town.isUnwell = true;
      const ended = breakIt(step, facts).finally(() => {
        going.delete(step);
        if (going.size === 0) facts.system.town.isUnwell = false;
      });
      going.set(step, ended);
    }
    await Promise.all(going.values());
  }

  async function breakIt(step: Step, facts: RoundFacts) {
    const { fault, index, isLong } = step;
    const { system, load, accounts, journal } = facts;
    const since = new Date();
    const startedAt = performance.now();
    const tell = (text: string) => {
      state.running.set(step, { since, said: text });
      say(state, `${fault.id} ${text}`);
    };
    tell(`${fault.title}${isLong ? ', for long' : ''}`);
    if (fault.isMongodb) facts.mayForgetAttempts = true;
    if (fault.mayBeLate) lateUntil = Number.POSITIVE_INFINITY;
    try {
      await fault.run({
        ...{ system, load, accounts, journal, say: tell, isShort: !isLong },
        chance: chanceOf(seed, `storm ${index} ${fault.title}`),
        noteWebhookKill() {
          facts.webhookKills += 1;
        },
      });
    } catch (error) {
      // Something else was broken that it needed; whether the system is well after it is asked in the end.
      const text = `${fault.id} ${fault.title}: ${(error as Error).message}`;
      state.failed.push(text);
      say(state, `could not be made as it should: ${text}`);
    }
    // Calls that waited for a paused gateway get a response when it continues, and then have their own deadline.
    if (fault.mayBeLate) lateUntil = performance.now() + LATEST_MS;
    state.running.delete(step);
    const seen = state.broken.get(fault.title) ?? { id: fault.id, times: 0, longest: 0 };
    const took = (performance.now() - startedAt) / 1_000;
    state.broken.set(fault.title, { ...seen, times: seen.times + 1, longest: Math.max(seen.longest, took) });
  }
}
