// Accounts for one round, each with its mark and with endpoints that are well, of two minds, or sick for a while.

import type { Chance } from '../../chance.ts';
import { register } from '../../webhooks.ts';
import type { FaultSystem } from '../system/fault-system.ts';
import type { Behaviour } from '../system/town.ts';
import { makeMark } from './marks.ts';

export interface MarkedAccount {
  id: string;
  key: string;
  mark: string;
  endpoints: MarkedEndpoint[];
}

export interface MarkedEndpoint {
  id: string;
  behaviour: Behaviour;
  path: string;
  secret: string;
  /** Event types it wants: `client.*` or all. */
  events: string[];
}

export async function openAccounts(system: FaultSystem, count: number, chance: Chance): Promise<MarkedAccount[]> {
  const accounts: MarkedAccount[] = [];
  for (let index = 0; index < count; index += 1) {
    const mark = makeMark(chance);
    const account = await system.workspace.account({ name: `${mark} account` });
    const wanted: [Behaviour, string[]][] = [
      ['good', ['*']],
      ['flaky', ['*']],
      ...(index === 0 ? ([['good', ['client.*']]] as [Behaviour, string[]][]) : []),
      ...(index === 1 ? ([['sick', ['client.created']]] as [Behaviour, string[]][]) : []),
    ];
    const endpoints: MarkedEndpoint[] = [];
    for (const [place, [behaviour, events]] of wanted.entries()) {
      const path = `/${mark}/${behaviour}/${place}`;
      const { endpoint, secret } = await register(system.workspace, account.id, system.town.url + path, events);
      endpoints.push({ id: endpoint.id, behaviour, path, secret, events });
    }
    accounts.push({ ...account, mark, endpoints });
  }
  return accounts;
}
