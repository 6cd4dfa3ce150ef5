// The longest time for which one request over a full account blocks the gateway, which keeps every other request waiting.
import { setTimeout as pause } from 'node:timers/promises';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { fillAccount } from '../../test/support/full-account.ts';
import { fullAccountCases, requestOf } from '../../test/support/full-account-requests.ts';
import { callerOf, type TestGateway, verbsOf } from '../../test/support/gateway.ts';
import { type SpawnedService, spawnService } from '../../test/support/spawn-service.ts';
import { openBenchWorkspace } from './bench-workspace.ts';
import type { BenchOptions } from './main.ts';
import { progress } from './progress.ts';
import { type Row, row } from './rows.ts';

const ENV = { RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_DOCUMENTS: '0', NODE_ENV: 'production' };
/** The operations that block longest have a row each. */
const NAMED = 25;
/** The gateway looks at its event loop every 10 ms. */
const SETTLED_MS = 50;
const LONGEST = /^nodejs_eventloop_lag_max_seconds (\S+)$/m;

export const parts: readonly string[] = [...new Set(fullAccountCases.map(({ row: { operation } }) => operation))];

/** In these rows the floor is the longest block during a short read just before, which is what the machine does by itself. */
export async function* bench({ part, ...options }: BenchOptions): AsyncGenerator<Row[]> {
  const workspace = await openBenchWorkspace(options);
  const services: SpawnedService[] = [];
  try {
    await ensureIndexes();
    const service = await spawnService('gateway', workspace, ENV);
    services.push(service, await spawnService('renderer', workspace, ENV));
    const account = await workspace.account();
    const call = callerOf(service.url, account.key);
    const gateway: TestGateway = {
      url: service.url,
      workspace,
      account,
      ...verbsOf(call),
      close: async () => undefined,
    };
    progress('loop: filling an account');
    const full = await fillAccount(gateway);
    const rows: Row[] = [];
    for (const one of fullAccountCases.filter(({ row: { operation } }) => !part || operation === part)) {
      progress(`loop: ${one.name}`);
      const { path, ...request } = await requestOf(one, gateway, full);
      const floor = await blockDuring(service, () => call('GET', '/api/v1/account', { key: full.account.key }));
      let status = 0;
      const ours = await blockDuring(service, async () => {
        const response = await fetch(service.url + path, request);
        await response.arrayBuffer();
        status = response.status;
      });
      rows.push(row(`${one.name} (${status})`, 'ms', ours, floor));
    }
    yield rows.toSorted((one, other) => other.ours - one.ours).slice(0, NAMED);
  } finally {
    for (const service of services) await service.stop();
    await workspace.close();
  }
}

/** The metrics of a process forget the longest delay when they are read. @returns milliseconds. */
async function blockDuring({ healthUrl }: SpawnedService, work: () => Promise<unknown>): Promise<number> {
  const longest = async () => {
    const text = await (await fetch(`${healthUrl}/metrics`)).text();
    return 1_000 * Number(LONGEST.exec(text)?.[1]);
  };
  await longest();
  await work();
  await pause(SETTLED_MS);
  return longest();
}
