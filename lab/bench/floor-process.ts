// The floor of API and portal as a process of its own, see api-floor.ts.
import getPort from 'get-port';
import { type ServerProcess, startServer } from './server-process.ts';

export async function startFloorProcess(uri: string): Promise<ServerProcess> {
  const port = await getPort();
  const url = `http://127.0.0.1:${port}`;
  const env = { MONGODB_URI: uri, PORT: String(port), NODE_ENV: 'production' };
  return startServer(['lab/bench/api-floor.ts'], env, { url, probe: `${url}/ready` });
}
