// Schedulers are killed while they make recurring invoices.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { killSchedulers } from '../../support/recurring/kill-schedulers.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 20_261_126);

let workspace: Workspace;

beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

test('when three schedulers are killed at random, then each month of each recurring invoice is billed once, without a hole in the numbers', async () => {
  const { mongodbUri } = workspace;
  const size = { schedulers: 3, accounts: 3, definitions: 9, months: 4, killsEach: 1 };

  const { broken, invoices, kills } = await killSchedulers({ mongodbUri, ...size, seed: SEED });

  expect(broken).toEqual([]);
  expect(invoices).toBe(36);
  expect(kills).toBeGreaterThan(0);
});
