// MongoDB: a primary that steps down, dies or hangs, a majority that is gone, errors on order, and a bad network to it.
import { type Fault, type FaultContext, pauseFor, seconds, send } from '../fault.ts';
import type { NetworkFault } from './network-fault.ts';

const NO_WRITE = 'not the primary any more';

export const mongodbFaults: readonly Fault[] = [
  mongodbFault('F20', 'the primary steps down', true, async ({ system, isShort, say, chance }) => {
    for (let time = 0; time < (isShort ? 1 : 3); time += 1) {
      const primary = await system.mongodb.primary();
      // It may break the connection it is asked on.
      await primary.command({ replSetStepDown: 20, secondaryCatchUpPeriodSecs: 1, force: true }).catch(() => undefined);
      say(`member ${primary.index} is ${NO_WRITE}`);
      await system.mongodb.primary();
      await seconds(2 + 3 * chance.next());
    }
  }),
  mongodbFault('F21', 'the primary is killed', true, async ({ system, isShort, say }) => {
    const primary = await system.mongodb.primary();
    await primary.kill();
    say(`member ${primary.index} was killed`);
    try {
      await seconds(isShort ? 5 : 20);
    } finally {
      await primary.start();
    }
  }),
  mongodbFault('F22', 'the primary hangs', false, async ({ system, isShort, say }) => {
    const primary = await system.mongodb.primary();
    say(`member ${primary.index} hangs`);
    await pauseFor(primary.pid(), isShort ? 6 : 15);
  }),
  mongodbFault('F23', 'two of three members are gone', true, async ({ system, isShort, say, chance }) => {
    const away = chance.shuffled(system.mongodb.members).slice(0, 2);
    for (const { pid } of away) send(pid(), 'SIGSTOP');
    say(`members ${away.map(({ index }) => index).join(' and ')} are gone`);
    try {
      await seconds(isShort ? 6 : 20);
    } finally {
      for (const { pid } of away) send(pid(), 'SIGCONT');
    }
  }),
  ...networkFaults(),
  ...failPoints(),
];

function mongodbFault(
  id: string,
  title: string,
  isShort: boolean,
  run: (context: FaultContext) => Promise<void>,
): Fault {
  return { id, title, spares: [], isMongodb: true, isShort, run };
}

function networkFaults(): Fault[] {
  const all: [NetworkFault, number][] = [
    [{ kind: 'latency', ms: 200, jitterMs: 50 }, 15],
    [{ kind: 'black hole' }, 15],
    [{ kind: 'reset', afterMs: 500 }, 10],
    [{ kind: 'slow close', ms: 2_000 }, 10],
  ];
  return all.map(([fault, count]) =>
    mongodbFault(
      'F24',
      `the network to the primary: ${fault.kind}`,
      fault.kind === 'black hole',
      async ({ system, isShort, say }) => {
        const primary = await system.mongodb.primary();
        say(`the network to member ${primary.index}: ${JSON.stringify(fault)}`);
        await system.network.mongodb(primary.index, fault);
        try {
          await seconds(isShort ? 6 : count);
        } finally {
          await system.network.mongodb(primary.index);
        }
      },
    ),
  );
}

/** Errors the server makes on order: the ones a driver must understand. */
function failPoints(): Fault[] {
  const all: [title: string, data: object][] = [
    ['commits whose answer is lost', { failCommands: ['commitTransaction'], closeConnection: true }],
    [
      'inserts that meet another write',
      { failCommands: ['insert'], errorCode: 112, errorLabels: ['TransientTransactionError'] },
    ],
    ['a primary that says it is none', { failCommands: ['insert', 'update', 'findAndModify'], errorCode: 10_107 }],
    ['commits that take too long', { failCommands: ['commitTransaction'], errorCode: 262 }],
    [
      'commits that wait three seconds',
      { failCommands: ['commitTransaction'], blockConnection: true, blockTimeMS: 3_000 },
    ],
  ];
  return all.map(([title, data], index) =>
    mongodbFault('F25', title, index === 0, async ({ system, isShort, say }) => {
      for (let time = 0; time < (isShort ? 2 : 6); time += 1) {
        const primary = await system.mongodb.primary();
        // Only ours: a set that cannot write its own records would end.
        const appName = `billhook/${system.workspace.redisPrefix}`;
        await primary.command({ configureFailPoint: 'failCommand', mode: { times: 3 }, data: { ...data, appName } });
        await seconds(1.5);
        await primary.command({ configureFailPoint: 'failCommand', mode: 'off' });
      }
      say(title);
    }),
  );
}
