// Two gateway processes on one database; the calls of an account go to them by turns.
import { spawnGateway } from '../spawn-gateway.ts';
import type { TestAccount, Workspace } from '../workspace.ts';
import type { Send } from './ledger-world.ts';

export interface TwoGateways {
  sendAs(account: TestAccount): Send;
  stop(): Promise<void>;
}

export async function openTwoGateways(workspace: Workspace): Promise<TwoGateways> {
  const { key } = await workspace.account();
  const gateways = await Promise.all([spawnGateway(workspace, key), spawnGateway(workspace, key)]);
  let turn = 0;
  return {
    sendAs:
      (account) =>
      (method, path, body, headers = {}) => {
        turn += 1;
        const [first, second] = gateways;
        const gateway = turn % 2 === 0 ? first : second;
        return gateway.send(method, `/api/v1${path}`, { key: account.key, body, headers });
      },
    async stop() {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
    },
  };
}
