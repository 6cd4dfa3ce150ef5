// A burst of requests over a fixed number of connections, and what came of it.
import autocannon from 'autocannon';
import type { ServerProcess } from './server-process.ts';

export interface Work {
  name: string;
  method: 'GET' | 'POST';
  /** Sent in turn. */
  paths: readonly string[];
  keys: readonly string[];
  /** Sent by every request, with a new Idempotency-Key; each request takes the next key, and the body that goes with it. */
  bodies?: readonly string[];
}

export interface Burst {
  perSecond: number;
  p50: number;
  p99: number;
  cpuMsEach: number;
}

export async function burst(
  server: ServerProcess,
  work: Work,
  { connections = 16, seconds }: { connections?: number; seconds: number },
): Promise<Burst> {
  const cpuBefore = await server.cpuMs();
  const result = await autocannon({
    url: server.url,
    connections,
    duration: seconds,
    requests: work.bodies ? [posting(work, work.bodies)] : work.paths.map((path) => reading(work, path)),
  } as unknown as autocannon.Options);
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${work.name}: ${result.non2xx} refusals and ${result.errors} errors from ${server.url}`);
  }
  const done = result['2xx'];
  return {
    perSecond: done / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    cpuMsEach: ((await server.cpuMs()) - cpuBefore) / done,
  };
}

function reading({ keys }: Work, path: string) {
  return { method: 'GET', path, headers: { Authorization: `Bearer ${keys[0]}` } };
}

function posting({ keys, paths }: Work, bodies: readonly string[]) {
  let count = 0;
  const lead = `${process.pid}-${Date.now()}`;
  const headers = () => ({
    Authorization: `Bearer ${keys[count % keys.length]}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': `${lead}-${count}`,
  });
  return {
    method: 'POST',
    path: paths[0],
    setupRequest: (request: object) => {
      count += 1;
      return { ...request, headers: headers(), body: bodies[count % bodies.length] };
    },
  };
}
