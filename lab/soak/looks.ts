// Checks that run while the load continues: each reads what is new every few seconds.
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { foreignMarks } from '../../test/support/faults/load/marks.ts';
import { judgeDocuments } from '../../test/support/faults/oracles/oracle-documents.ts';
import { isSigned } from '../../test/support/faults/oracles/oracle-events.ts';
import type { ReadLogs } from '../../test/support/faults/oracles/oracle-logs.ts';
import type { RoundFacts } from '../../test/support/faults/round-facts.ts';
import { processesOf } from '../../test/support/faults/system/processes.ts';

export interface Looks {
  start(): void;
  /** Waits for those that look at the moment. */
  stop(): Promise<void>;
}

interface Look {
  everyMs: number;
  look(): Promise<void>;
}

/** The parent that should reap an ended process may itself be paused for a minute. */
const ZOMBIE_LIMIT_MS = 120_000;

export function openLooks(facts: RoundFacts, logs: ReadLogs): Looks {
  const looks: Look[] = [
    { everyMs: 10_000, look: auditLook(facts) },
    { everyMs: 2_000, look: webhookLook(facts) },
    { everyMs: 1_000, look: () => judgeDocuments(facts) },
    { everyMs: 10_000, look: zombieLook(facts) },
    { everyMs: 10_000, look: () => logs.judge(facts) },
  ];
  const ending = new AbortController();
  let loops: Promise<void>[] = [];

  async function again({ everyMs, look }: Look) {
    while (!ending.signal.aborted) {
      await pause(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
      if (ending.signal.aborted) return;
      await look();
    }
  }

  return {
    start() {
      loops = looks.map(again);
      // A caller that awaits the end gets the error.
      for (const loop of loops) loop.catch(() => ending.abort());
    },
    async stop() {
      ending.abort();
      await Promise.all(loops);
    },
  };
}

/** Two audits in a row that miss the same: one may have looked into the middle of a write. */
function auditLook({ accounts, load, journal }: RoundFacts) {
  const suspected = new Map<string, string[]>();
  return async () => {
    for (const account of accounts) {
      const path = '/api/v1/numbering/audit?limit=1';
      const answer = await load.ask({ account, kind: 'records', method: 'GET', path });
      const kinds = answer?.body?.data?.kinds as Record<string, { holes: string[]; lost: string[] }> | undefined;
      const missed = Object.values(kinds ?? {}).flatMap(({ holes, lost }) => [...holes, ...lost]);
      const twice = missed.filter((number) => suspected.get(account.mark)?.includes(number));
      if (twice.length > 0) journal.breach('O2', `the audit of ${account.mark} misses ${twice.join(', ')}`);
      if (kinds) suspected.set(account.mark, missed);
    }
  };
}

function webhookLook({ system, accounts, journal }: RoundFacts) {
  const seen = new Map<string, number>();
  return async () => {
    for (const { mark, endpoints } of accounts) {
      for (const { path, secret } of endpoints) {
        const calls = system.town.taken.get(path) ?? [];
        const signature = new Webhook(secret);
        for (const call of calls.slice(seen.get(path) ?? 0)) {
          if (!isSigned(signature, call)) journal.breach('O3', `${call.id} came to ${path} badly signed`);
          const foreign = foreignMarks(call.body, mark);
          if (foreign.length > 0) journal.breach('O8', `a webhook to ${mark} holds ${foreign.join(', ')}`);
        }
        seen.set(path, calls.length);
      }
    }
  };
}

function zombieLook({ system, journal }: RoundFacts) {
  const since = new Map<number, number>();
  return async () => {
    const ended = (await processesOf(system.folder)).filter(({ state }) => state === 'Z');
    for (const pid of since.keys()) if (!ended.some((one) => one.pid === pid)) since.delete(pid);
    for (const { pid, parent } of ended) {
      const first = since.get(pid) ?? performance.now();
      since.set(pid, first);
      if (performance.now() - first < ZOMBIE_LIMIT_MS) continue;
      journal.breach('O5', `${pid} of ${parent} has ended long ago and was never reaped`);
      since.set(pid, Number.POSITIVE_INFINITY);
    }
  };
}
