// Names the connections of processes, so that an operator sees which services run, and in which version. A name ends with its connection:
// nothing is stored, and a process that is gone is not shown.
import { hostname } from 'node:os';
import { release } from '../service/release.ts';
import { primariesOf, type Redis } from './connection.ts';

export interface RunningProcess {
  service: string;
  version: string;
  /** `host/process id`. */
  name: string;
  connectedMs: number;
}

const leadOf = (prefix: string) => `${prefix}:process:`;

/** Returns the name for a connection of this process. @param prefix REDIS_PREFIX, because two systems may share a Redis. */
export function processName(service: string, prefix: string, version = release()): string {
  return `${leadOf(prefix)}${service}:${version}:${hostname()}/${process.pid}`;
}

/** Returns the processes that are connected, by service. @throws when Redis does not answer. */
export async function readProcesses(redis: Redis, prefix: string): Promise<RunningProcess[]> {
  const lead = leadOf(prefix);
  const found = new Map<string, RunningProcess>();
  const lists = await Promise.all(primariesOf(redis).map((server) => server.client('LIST')));
  for (const line of lists.flatMap((list) => String(list).split('\n'))) {
    const fields = new Map(
      line.split(' ').map((field) => [field.slice(0, field.indexOf('=')), field.slice(field.indexOf('=') + 1)]),
    );
    const given = fields.get('name') ?? '';
    if (!given.startsWith(lead)) continue;
    const [service = '', version = '', ...name] = given.slice(lead.length).split(':');
    // A process may connect more than once, and to each server of a cluster.
    const connectedMs = Math.max(Number(fields.get('age') ?? 0) * 1000, found.get(given)?.connectedMs ?? 0);
    found.set(given, { service, version, name: name.join(':'), connectedMs });
  }
  return [...found.values()].toSorted(
    (one, other) => one.service.localeCompare(other.service) || one.name.localeCompare(other.name),
  );
}

/** Returns the processes of each version, the version with most processes first. */
export function byVersion(processes: readonly RunningProcess[]): { version: string; services: string[] }[] {
  return [...Map.groupBy(processes, ({ version }) => version)]
    .map(([version, own]) => ({ version, services: own.map(({ service }) => service) }))
    .toSorted((one, other) => other.services.length - one.services.length);
}

/** Writes the versions: `0.1.0 (gateway, renderer) and 0.2.0 (gateway)`. */
export function versionsText(processes: readonly RunningProcess[]): string {
  return byVersion(processes)
    .map(({ version, services }) => `${version} (${[...new Set(services)].join(', ')})`)
    .join(' and ');
}
