// Starts the backends once for a whole run; each test file makes its own database and queue prefix on them.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Backends, startBackends } from './backends.ts';

declare global {
  var billhookBackends: Backends | undefined;
}

export default async function globalSetup() {
  const backends = await startBackends(process.env);
  globalThis.billhookBackends = backends;
  // Workers of the test runner are processes: the environment is what reaches them.
  process.env['TEST_MONGODB_URI'] = backends.mongodbUri;
  process.env['TEST_REDIS_URL'] = backends.redisUrl;
  process.env['TEST_CHROMIUM_PATH'] = backends.chromiumPath;
  process.env['TEST_BACKENDS_DESCRIPTION'] = backends.description;
  process.env['TEST_TALLY'] = join(tmpdir(), `billhook-tally-${process.pid}`);
}
