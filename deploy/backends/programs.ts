// Finds the programs that a start needs, except those that the environment names.

import { MARK, markOf } from '../local/orphans.ts';
import { findChromium } from './chromium.ts';
import { findMongodb } from './mongodb.ts';
import type { Program } from './program.ts';
import type { Progress } from './progress.ts';
import { findRedis } from './redis.ts';

export interface Programs {
  mongod: Program | undefined; // undefined when MONGODB_URI names a MongoDB
  redisServer: Program | undefined; // undefined when REDIS_URL names a Redis
  chromium: Program;
  description: string; // for people
}

// Finds them one after the other, so that each has its own progress bar.
export async function findPrograms(options: {
  env: NodeJS.ProcessEnv;
  dataFolder: string;
  progress: Progress;
}): Promise<Programs> {
  const { dataFolder, progress } = options;
  // The mark lets Ctrl-C end downloads, too.
  const env: NodeJS.ProcessEnv = { ...options.env, [MARK]: markOf(dataFolder, 'fetching') };
  const mongod = env['MONGODB_URI'] ? undefined : await findMongodb({ env, progress });
  const redisServer = env['REDIS_URL'] ? undefined : await findRedis({ env, progress });
  const chromium = await findChromium({ env, progress });
  const description = [
    mongod ? `MongoDB ${mongod.version} (${mongod.source})` : 'with the MongoDB of MONGODB_URI',
    redisServer ? `Redis ${redisServer.version} (${redisServer.source})` : 'with the Redis of REDIS_URL',
    `Chromium ${chromium.version} (${chromium.source})`,
  ].join(', ');
  return { mongod, redisServer, chromium, description };
}
