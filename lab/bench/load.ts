// A burst of requests over a fixed number of connections, and what came of it.
import { join } from 'node:path';
import { memoize } from 'es-toolkit/function/memoize';
import { npmTool } from '../../test/support/clients/tools.ts';
import type { ServerProcess } from './server-process.ts';

export interface Work {
  name: string;
  method: 'GET' | 'POST';
  /** Sent in turn. */
  paths: readonly string[];
  keys: readonly string[];
  /** The address that a proxy would name, for each path in turn: limits by address count them. */
  addresses?: readonly string[];
  /** Sent by every request, with a new Idempotency-Key; each request takes the next key, and the body that goes with it. */
  bodies?: readonly string[];
}

export interface Burst {
  perSecond: number;
  p50: number;
  p99: number;
  cpuMsEach: number;
}

/** The parts of its result that are used here. */
interface Result {
  non2xx: number;
  errors: number;
  '2xx': number;
  duration: number;
  latency: { p50: number; p99: number };
}

type Autocannon = (options: object) => Promise<Result>;

/** It is fetched by the first benchmark, because nothing else needs it and its 60 packages. */
const loadAutocannon = memoize(async (): Promise<Autocannon> => {
  const tool = await npmTool('autocannon-9.0.0', ['autocannon@9.0.0']);
  if ('missing' in tool) throw new Error(`autocannon could not be fetched: ${tool.missing}`);
  return (await import(join(tool.folder, 'node_modules/autocannon/autocannon.js'))).default;
});

export async function burst(
  server: ServerProcess,
  work: Work,
  { connections = 16, seconds }: { connections?: number; seconds: number },
): Promise<Burst> {
  const autocannon = await loadAutocannon();
  const cpuBefore = await server.cpuMs();
  const result = await autocannon({
    url: server.url,
    connections,
    duration: seconds,
    requests: work.bodies ? [posting(work, work.bodies)] : work.paths.map((path, index) => reading(work, path, index)),
  });
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

function reading({ keys, addresses }: Work, path: string, index: number) {
  const forwarded = addresses ? { 'X-Forwarded-For': addresses[index % addresses.length] } : {};
  return { method: 'GET', path, headers: { Authorization: `Bearer ${keys[0]}`, ...forwarded } };
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
