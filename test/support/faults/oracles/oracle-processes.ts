// O5: nothing is left behind: no dead or lost process, no folder, no descriptor, no job, and no reply that stays.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../eventually.ts';
import type { RoundFacts } from '../round-facts.ts';
import type { FaultSystem } from '../system/fault-system.ts';
import { descendsFrom, descriptorsOf, isBrowser, processesOf, socketsOf } from '../system/processes.ts';

/** A browser that is replaced, a folder that is removed: they take a moment, on a busy machine a long one. */
const TIDY_LIMIT_MS = 60_000;
const REPLY_LIFE_MS = 60_000;
const DESCRIPTORS_MORE = 5;
/** The driver keeps up to 50 connections to each member it writes to; Redis, receivers and callers have the rest. */
const SOCKETS_MAX = 200;

/** Open descriptors of each process before the first fault. */
export type Baseline = Map<string, number>;

export async function measureBaseline({ services }: FaultSystem): Promise<Baseline> {
  return new Map(
    await Promise.all(services.map(async ({ name, pid }) => [name, await descriptorsOf(pid() ?? 0)] as const)),
  );
}

export async function judgeProcesses({ system, journal }: RoundFacts, baseline: Baseline): Promise<void> {
  for (const [what, look] of Object.entries(checks(system, baseline))) {
    let found: string[] = [];
    await eventually(async () => {
      found = await look();
      return found.length === 0;
    }, TIDY_LIMIT_MS).catch(() => journal.breach('O5', `${what}: ${found.join('; ')}`));
  }
}

/** Each says what is wrong, or nothing. */
function checks(system: FaultSystem, baseline: Baseline): Record<string, () => Promise<string[]>> {
  const { folder, services, renderers, redis, workspace } = system;
  const prefix = workspace.redisPrefix;
  return {
    async 'zombie processes'() {
      const all = await processesOf(folder);
      return all.filter(({ state }) => state === 'Z').map(({ pid, parent }) => `${pid} of ${parent}`);
    },
    async 'not one browser for each renderer'() {
      const all = await processesOf(folder);
      const counts = renderers.map(
        ({ name, pid }) => [name, all.filter((one) => one.parent === pid() && isBrowser(one)).length] as const,
      );
      return counts.filter(([, count]) => count !== 1).map(([name, count]) => `${name} has ${count}`);
    },
    async 'browser processes without a renderer'() {
      const all = await processesOf(folder);
      const pids = renderers.map(({ pid }) => pid() ?? 0);
      const lost = all.filter(
        (one) =>
          /--type=|--remote-debugging-pipe/.test(one.command) && !pids.some((pid) => descendsFrom(one, pid, all)),
      );
      return lost.map(({ pid, command }) => `${pid} ${command.slice(0, 60)}`);
    },
    async 'orphaned folders'() {
      const names = await readdir(join(folder, 'tmp'));
      const pids = renderers.map(({ pid }) => String(pid()));
      return names.filter((name) => !pids.includes(/^billhook-renderer-(\d+)-/.exec(name)?.[1] ?? ''));
    },
    async 'more open than before'() {
      const counts = services.map(async ({ name, pid }) => {
        const count = await descriptorsOf(pid() ?? 0);
        const sockets = await socketsOf(pid() ?? 0);
        const most = (baseline.get(name) ?? 0) + DESCRIPTORS_MORE;
        return count > most || sockets > SOCKETS_MAX
          ? [`${name} has ${count} descriptors (${most}), ${sockets} sockets`]
          : [];
      });
      return (await Promise.all(counts)).flat();
    },
    async 'documents in the queue'() {
      const name = `${prefix}:render-document`;
      const counts = [
        ...(await Promise.all(['wait', 'active', 'paused'].map((list) => redis.command('LLEN', `${name}:${list}`)))),
        ...(await Promise.all(
          ['delayed', 'prioritized', 'failed'].map((set) => redis.command('ZCARD', `${name}:${set}`)),
        )),
      ];
      return counts.some((count) => Number(count) > 0) ? [counts.join(' ')] : [];
    },
    async 'replies that stay for ever'() {
      const keys = (await redis.command('KEYS', `${prefix}:reply:*`)) as string[];
      const lives = await Promise.all(
        keys.map(async (key) => [key, Number(await redis.command('PTTL', key))] as const),
      );
      // -2: it went while we looked.
      return lives.filter(([, life]) => life === -1 || life > REPLY_LIFE_MS).map(([key, life]) => `${key} ${life}`);
    },
  };
}

/** At the very end, when every reply that was not taken has expired. */
export async function repliesLeft({ redis, workspace }: FaultSystem): Promise<string[]> {
  return (await redis.command('KEYS', `${workspace.redisPrefix}:reply:*`)) as string[];
}
