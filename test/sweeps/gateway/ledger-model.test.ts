// A short run of `npm run ledger-model`: any movements of time and money, two at a time, leave sums and links consistent.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { count, isSampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { openLedgerWorld } from '../../support/ledger/ledger-world.ts';
import { runModel } from '../../support/ledger/model.ts';

/** Fixed, so that every run is the same; another seed can be given. */
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_126);
const SEQUENCES = isSampled() ? 2 : 8;
const LIMIT_MS = 300_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test(
  'when any movements of time and money are made in turn or concurrently, then all sums and links are correct after each',
  async () => {
    const { steps } = await runModel({
      seed: SEED,
      sequences: SEQUENCES,
      shrinks: false,
      onSequence: () => count('sequences of the ledger', 1),
      async open() {
        const account = await gateway.workspace.account();
        return openLedgerWorld(account, (method, path, body, headers = {}) =>
          gateway.call(method, `/api/v1${path}`, { key: account.key, body, headers }),
        );
      },
    });

    expect(steps).toBeGreaterThan(SEQUENCES);
  },
  LIMIT_MS,
);
