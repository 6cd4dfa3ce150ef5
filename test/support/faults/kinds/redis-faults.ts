// Redis: killed, stopped, emptied, paused, full, its clients thrown out, and a bad network on the way to it.
import { eventually } from '../../eventually.ts';
import { type Fault, type FaultContext, pauseFor, seconds } from '../fault.ts';
import { limit, unlimit } from '../system/processes.ts';
import type { NetworkFault } from './network-fault.ts';

const RECORDS = ['records'] as const;
const WRITE_FAILED = 'aof_last_write_status:err';

/** The way back to health is the supervisor's of Redis, which is we. */
async function restart(context: FaultContext, end: 'kill' | 'stop', awaySeconds: number, empty = false) {
  const { system, say } = context;
  await system.redis[end]();
  say(`Redis is gone for ${awaySeconds} s${empty ? ', its data for ever' : ''}`);
  try {
    await seconds(awaySeconds);
  } finally {
    await system.redis.start({ empty });
  }
  await seconds(2);
}

export const redisFaults: readonly Fault[] = [
  {
    id: 'F11',
    title: 'Redis is killed and comes back with its file',
    spares: RECORDS,
    isShort: true,
    async run(context) {
      for (const away of context.isShort ? [context.chance.pick([0, 3])] : [0, 5, 60])
        await restart(context, 'kill', away);
    },
  },
  {
    id: 'F12',
    title: 'Redis is stopped in order and started again',
    spares: RECORDS,
    run: (context) => restart(context, 'stop', context.isShort ? 1 : 3),
  },
  {
    id: 'F13',
    title: 'Redis is emptied',
    spares: RECORDS,
    isShort: true,
    async run({ system, isShort, say, chance }) {
      for (let time = 0; time < (isShort ? 2 : 5); time += 1) {
        await seconds(1 + chance.next());
        await system.redis.command('FLUSHALL');
        say('Redis was emptied');
      }
    },
  },
  {
    id: 'F14',
    title: 'Redis is killed and comes back knowing nothing',
    spares: RECORDS,
    run: (context) => restart(context, 'kill', context.isShort ? 1 : 5, true),
  },
  {
    id: 'F15',
    title: 'Redis is paused',
    spares: RECORDS,
    isShort: true,
    async run({ system, isShort, say }) {
      for (const count of isShort ? [5] : [5, 30]) {
        say(`Redis is paused for ${count} s`);
        await pauseFor(system.redis.pid(), count);
        await seconds(2);
      }
    },
  },
  {
    id: 'F16',
    title: 'Redis is full',
    spares: RECORDS,
    isShort: true,
    async run({ system, isShort, say }) {
      const memory = String(await system.redis.command('INFO', 'memory'));
      const used = Number(/used_memory:(\d+)/.exec(memory)?.[1]);
      await system.redis.command('CONFIG', 'SET', 'maxmemory', String(Math.floor(used * 0.9)));
      say('Redis is full');
      try {
        await seconds(isShort ? 4 : 15);
      } finally {
        await system.redis.command('CONFIG', 'SET', 'maxmemory', '0');
      }
    },
  },
  {
    id: 'F17',
    title: 'Redis throws out all its clients, again and again',
    spares: RECORDS,
    async run({ system, isShort, say, chance }) {
      for (let time = 0; time < (isShort ? 3 : 20); time += 1) {
        await system.redis.command('CLIENT', 'KILL', 'TYPE', chance.pick(['normal', 'pubsub']));
        await seconds(2);
      }
      say('clients were thrown out');
    },
  },
  {
    id: 'F18',
    title: 'the disk under Redis is full',
    spares: RECORDS,
    async run({ system, isShort, say }) {
      const pid = system.redis.pid();
      await limit(pid, 'fsize', 0);
      // A sleeping Redis would not show it: writes have to be rejected.
      await eventually(async () => String(await system.redis.command('INFO', 'persistence')).includes(WRITE_FAILED));
      say('Redis cannot write to its file');
      try {
        await seconds(isShort ? 4 : 15);
      } finally {
        await unlimit(pid, 'fsize');
      }
      await eventually(async () => !String(await system.redis.command('INFO', 'persistence')).includes(WRITE_FAILED));
    },
  },
  ...networkFaults(),
];

function networkFaults(): Fault[] {
  const all: [NetworkFault, number, boolean][] = [
    [{ kind: 'latency', ms: 300, jitterMs: 200 }, 15, false],
    [{ kind: 'black hole' }, 15, true],
    [{ kind: 'reset', afterMs: 500 }, 10, false],
    [{ kind: 'slices', bytes: 64, waitMs: 1 }, 10, false],
    [{ kind: 'bandwidth', bytesPerSecond: 20_000 }, 15, false],
    [{ kind: 'limit', bytes: 10_000 }, 15, false],
  ];
  return all.map(([fault, count, isShort]) => ({
    id: 'F19',
    title: `the network to Redis: ${fault.kind}`,
    spares: RECORDS,
    isShort,
    async run({ system, isShort: short, say }) {
      say(`the network to Redis: ${JSON.stringify(fault)}`);
      await system.network.redis(fault);
      try {
        await seconds(short ? Math.min(count, 5) : count);
      } finally {
        await system.network.redis();
      }
    },
  }));
}
