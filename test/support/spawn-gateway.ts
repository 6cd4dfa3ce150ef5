// A gateway process of its own, and a small client that speaks to it.
import { callerOf } from './gateway.ts';
import { type SpawnedService, spawnService } from './spawn-service.ts';
import type { Workspace } from './workspace.ts';

export type Send = ReturnType<typeof callerOf>;

/** @param env on top of what every gateway gets. Stop it at the end. */
export async function spawnGateway(workspace: Workspace, key: string, env: Record<string, string> = {}) {
  const service: SpawnedService = await spawnService('gateway', workspace, {
    // Hundreds of requests at once are the test, not an attack.
    RATE_LIMIT_REQUESTS: '0',
    LOG_LEVEL: 'warn',
    ...env,
  });
  return { ...service, send: callerOf(service.url, key) };
}
