// Any sequence of commands of two accounts leaves the service in the state of a simple model in memory.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { count, isFull, isSampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { commands } from './model-commands.ts';
import { newModel } from './model-state.ts';
import { expectStored } from './model-system.ts';

/** The short form is the same on every machine; another seed may be given. */
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_121);
const SEQUENCES = isFull ? 2_000 : isSampled() ? 4 : 12;
/** Sequences are independent: each has accounts of its own. */
const AT_ONCE = isFull ? 8 : 4;
const LONGEST = 60;
const LIMIT_MS = isFull ? 10_800_000 : 300_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

test(
  'when commands of two accounts follow each other, then every response matches the model',
  async () => {
    let steps = 0;
    const sequences = fc.commands(commands, { maxCommands: LONGEST, size: 'max' });
    const property = fc.asyncProperty(sequences, async (sequence) => {
      const { workspace } = gateway;
      const accounts = [await workspace.account({ name: 'A' }), await workspace.account({ name: 'B' })] as const;
      const model = newModel();
      const real = { gateway, accounts: [...accounts] as [(typeof accounts)[0], (typeof accounts)[1]] };
      await fc.asyncModelRun(() => ({ model, real }), sequence);
      const taken = [...sequence].length;
      steps += taken;
      count('sequences of the model', 1);
      count('steps of the model', taken);
      // Records that were not read since must be unchanged, too.
      for (const who of [0, 1] as const) {
        for (const record of model.accounts[who].records.tasks) await expectStored(real, model, who, 'tasks', record);
      }
    });
    const lanes = Array.from({ length: AT_ONCE }, (_, lane) =>
      fc.assert(property, { seed: SEED + lane, numRuns: Math.ceil(SEQUENCES / AT_ONCE), endOnFailure: !isFull }),
    );
    await Promise.all(lanes);

    expect(steps).toBeGreaterThan(SEQUENCES);
  },
  LIMIT_MS,
);
