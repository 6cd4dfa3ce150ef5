// Finds the programs that a start needs, except those that the environment names.

import { MARK, markOf } from '../local/orphans.ts';
import { findChromium } from './chromium.ts';
import { findMongodb } from './mongodb.ts';
import type { Program } from './program.ts';
import type { Progress } from './progress.ts';
import { findRedis } from './redis.ts';

export interface Programs {
  mongod: Promise<Program | undefined>; // undefined when MONGODB_URI names a MongoDB
  redisServer: Promise<Program | undefined>; // undefined when REDIS_URL names a Redis
  chromium: Promise<Program>;
}

// Finds them side by side, so that each can start as soon as it is found.
export function findPrograms(options: { env: NodeJS.ProcessEnv; dataFolder: string; progress: Progress }): Programs {
  const { dataFolder, progress } = options;
  // The mark lets Ctrl-C end downloads, too.
  const env: NodeJS.ProcessEnv = { ...options.env, [MARK]: markOf(dataFolder, 'fetching') };
  return {
    mongod: env['MONGODB_URI'] ? Promise.resolve(undefined) : findMongodb({ env, progress }),
    redisServer: env['REDIS_URL'] ? Promise.resolve(undefined) : findRedis({ env, progress }),
    chromium: findChromium({ env, progress }),
  };
}

// Names them for people.
export async function describePrograms(programs: Programs): Promise<string> {
  const [mongod, redisServer, chromium] = await Promise.all([programs.mongod, programs.redisServer, programs.chromium]);
  return [
    mongod ? `MongoDB ${mongod.version} (${mongod.source})` : 'with the MongoDB of MONGODB_URI',
    redisServer ? `Redis ${redisServer.version} (${redisServer.source})` : 'with the Redis of REDIS_URL',
    `Chromium ${chromium.version} (${chromium.source})`,
  ].join(', ');
}
