// The short form of `npm run crashes`: a gateway is killed between two steps of each write that moves numbers, time or money, and
// portal, scheduler and mail service in the middle of what they do by themselves.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CLIENT_FORMS } from '../../../services/portal/client/forms.ts';
import { chanceOf } from '../../support/chance.ts';
import { ACTS, PORTAL_ADDRESS, tryAct } from '../../support/crashes/act-trial.ts';
import { FORM_ACTS } from '../../support/crashes/acts.ts';
import { CRASH_POINTS, type CrashPoint, nameOf, watchedService } from '../../support/crashes/crash-points.ts';
import { MAIL_TRANSACTIONS, tryMail } from '../../support/crashes/mail-trial.ts';
import {
  type Gateway,
  type KnownWrite,
  learnWrite,
  pointsOf,
  type Trials,
  tryCrash,
} from '../../support/crashes/trial.ts';
import { WRITES } from '../../support/crashes/writes.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { spawnGateway } from '../../support/spawn-gateway.ts';
import { spawnService } from '../../support/spawn-service.ts';
import { openWorkspace } from '../../support/workspace.ts';

const chance = chanceOf(Number(process.env['TEST_SEED'] ?? 20_261_126), 'crashes');
const LIMIT_MS = 300_000;
/** Gateways that start at a time. */
const AT_ONCE = 2;
const [first, ...others] = WRITES;
/** Starting a service takes seconds, so some of the writes and acts are tried here, and all of them by `npm run crashes`. */
const WRITES_TRIED = Math.ceil(others.length / 3);
const ACTS_TRIED = 2;
/**
 * A write outside of the transaction is easiest to detect before the commit. `gateway/two-gateways` has a death right after the number
 * was drawn.
 */
const TRIED: readonly CrashPoint[] = [
  { when: 'before', step: 'commitTransaction' },
  { when: 'after', step: 'commitTransaction' },
];

let trials: Trials;
let gateways: Gateway[] = [];

beforeAll(async () => {
  const workspace = await openWorkspace();
  const { key } = await workspace.account();
  gateways = await Promise.all([
    spawnGateway(workspace, key, { PORTAL_URL: PORTAL_ADDRESS }),
    spawnGateway(workspace, key, watchedService()),
  ]);
  trials = { workspace, gateway: gateways[0] as Gateway };
}, LIMIT_MS);
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await trials?.workspace.close();
});

const learn = (write: (typeof WRITES)[number]) => learnWrite(trials, gateways[1] as Gateway, write);

test(
  'when the gateway dies before the commit of a new invoice or after it, then all is stored or nothing, and the retry gives the one invoice',
  async () => {
    const known = await learn(first as (typeof WRITES)[number]);
    // The points of the fault suite are steps that a write has.
    expect(CRASH_POINTS.filter(({ step }) => !known.steps.includes(step))).toEqual([]);
    await crash(TRIED.map((point) => [known, point]));
  },
  LIMIT_MS,
);

test(
  'when the gateway dies at a step of a write of time or money, then all is stored or nothing, and the retry does it once',
  async () => {
    const cases: [KnownWrite, CrashPoint][] = [];
    for (const write of chance.shuffled(others).slice(0, WRITES_TRIED)) {
      const known = await learn(write);
      expect(known.steps.at(-1)).toBe('commitTransaction');
      const points = pointsOf(known);
      const [beforeCommit, afterCommit] = points.slice(-2) as [CrashPoint, CrashPoint];
      cases.push([known, chance.pick([chance.pick(points), beforeCommit, beforeCommit, afterCommit])]);
    }
    await crash(cases);
  },
  LIMIT_MS,
);

test('when the acts are listed, then they have every form of the page', () => {
  // Payments on a page of Stripe have tests of their own: service/portal/stripe loses the answers of Stripe.
  const forms = Object.keys(CLIENT_FORMS).filter((path) => path !== '/pay/stripe');
  expect(Object.keys(FORM_ACTS)).toEqual(expect.arrayContaining(forms));
});

test(
  'when portal or scheduler dies before or after the commit of an act, then all is stored or nothing, and the act is done once',
  async () => {
    const { workspace } = trials;
    const portal = await spawnService('portal', workspace);
    try {
      for (const [index, act] of chance.shuffled(ACTS).slice(0, ACTS_TRIED).entries()) {
        const when = index % 2 === 0 ? 'before' : 'after';
        await tryAct({ ...trials, portal }, act, { when, step: 'commitTransaction' });
      }
    } finally {
      await portal.stop();
    }
  },
  LIMIT_MS,
);

test(
  'when a mail service dies before contents leave, or between the answer of the server and its record, and Redis is emptied, then the mail leaves once, or twice as unknown',
  async () => {
    const queues = await openReadyQueues(trials.workspace);
    // No transaction is open at these points, whose locks the trial itself would have to wait for.
    const points: CrashPoint[] = [
      {
        when: 'after',
        step: 'commitTransaction',
        of: 1 + MAIL_TRANSACTIONS.indexOf('keep the mail and begin sending'),
      },
      { when: 'before', step: '#1', of: 1 + MAIL_TRANSACTIONS.indexOf('record the answer') },
    ];
    try {
      expect(await tryMail({ ...trials, queues }, points)).toEqual([]);
    } finally {
      await queues.close();
    }
  },
  LIMIT_MS,
);

async function crash(cases: [KnownWrite, CrashPoint][]) {
  const failures: string[] = [];
  const work = async () => {
    for (let one = cases.shift(); one; one = cases.shift()) {
      const [known, point] = one;
      await tryCrash(trials, known, point).catch((error: Error) => {
        failures.push(`${known.write.name}, killed ${nameOf(point)}: ${error.message}`);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(failures).toEqual([]);
}
