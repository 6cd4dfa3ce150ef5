// A workspace on the backends that the run has started.
import { openWorkspace, type Workspace } from '../../test/support/workspace.ts';
import type { BenchOptions } from './main.ts';

export async function openBenchWorkspace(options: BenchOptions): Promise<Workspace> {
  useBackends(options);
  return openWorkspace();
}

/** Names the backends to whatever opens a workspace by itself. */
export function useBackends({ mongodbUri, redisUrl, chromiumPath }: BenchOptions): void {
  Object.assign(process.env, {
    TEST_MONGODB_URI: mongodbUri,
    TEST_REDIS_URL: redisUrl,
    TEST_CHROMIUM_PATH: chromiumPath,
  });
}
