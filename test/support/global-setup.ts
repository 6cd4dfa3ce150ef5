// Starts the backends once for a whole run; each worker has a database on them, and each test file a queue prefix.
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backends, startBackends } from './backends.ts';
import { memoryFolder } from './memory-folder.ts';

declare global {
  var billhookBackends: Backends | undefined;
}

export default async function globalSetup() {
  const run = randomBytes(4).toString('hex');
  const backends = await startBackends(process.env, { root: await memoryFolder(), databases: `test_${run}_` });
  globalThis.billhookBackends = backends;
  // Workers of the test runner are processes: the environment is what reaches them.
  process.env['TEST_RUN'] = run;
  process.env['TEST_MONGODB_URI'] = backends.mongodbUri;
  process.env['TEST_REDIS_URL'] = backends.redisUrl;
  process.env['TEST_CHROMIUM_PATH'] = backends.chromiumPath;
  process.env['TEST_BACKENDS_DESCRIPTION'] = backends.description;
  process.env['TEST_TALLY'] = join(tmpdir(), `billhook-tally-${process.pid}`);
}
