// A gateway as a process of its own, set up as in production but for its limit of requests.
import { randomBytes } from 'node:crypto';
import getPort from 'get-port';
import { nodeEnvironmentOf, nodeFlagsOf } from '../../deploy/local/node-flags.ts';
import { type ServerProcess, startServer } from './server-process.ts';

export async function startGatewayProcess({
  uri,
  redisUrl,
  prefix,
}: {
  uri: string;
  redisUrl: string;
  prefix: string;
}): Promise<ServerProcess> {
  const [port, health] = [await getPort(), await getPort()];
  const env = {
    ...nodeEnvironmentOf('gateway'),
    HOST: '127.0.0.1',
    PORT: String(port),
    HEALTH_HOST: '127.0.0.1',
    HEALTH_PORT: String(health),
    MONGODB_URI: uri,
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix,
    SECRET_KEY: randomBytes(32).toString('base64'),
    // Counted like any limits, and never reached.
    RATE_LIMIT_REQUESTS: '10000000',
    RATE_LIMIT_DOCUMENTS: '10000000',
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
  };
  return startServer([...nodeFlagsOf('gateway'), 'services/gateway/main.ts'], env, {
    url: `http://127.0.0.1:${port}`,
    probe: `http://127.0.0.1:${health}/readyz`,
  });
}
