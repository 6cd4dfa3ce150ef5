// The short form of `npm run race-storm`: callers move the same time and money at once through two gateway processes.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runStorm } from '../../support/ledger/race-storm.ts';
import { openTwoGateways, type TwoGateways } from '../../support/ledger/two-gateways.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 20_261_126);
const ROUNDS = 4;
const LIMIT_MS = 300_000;

let workspace: Workspace;
let gateways: TwoGateways | undefined;

beforeAll(async () => {
  workspace = await openWorkspace();
  gateways = await openTwoGateways(workspace);
}, LIMIT_MS);
afterAll(async () => {
  await gateways?.stop();
  await workspace.close();
});

test(
  'when callers bill, convert, pay, refund, cancel and delete the same records at once, then none has its effect twice',
  async () => {
    const { broken, done } = await runStorm({
      gateways: gateways as TwoGateways,
      newAccount: () => workspace.account(),
      seed: SEED,
      requests: 200,
      callers: 12,
      isOver: (rounds) => rounds === ROUNDS,
    });

    expect(broken).toEqual([]);
    // The storm does each of these at least once.
    for (const move of ['pay', 'billTime', 'convert', 'cancel', 'refund', 'void'])
      expect(done[move]).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
