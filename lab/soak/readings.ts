// Reads the resources of a system at one moment: memory, descriptors, keys, bytes on the disk, ended processes.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FaultSystem } from '../../test/support/faults/system/fault-system.ts';
import { descriptorsOf, processesOf, socketsOf } from '../../test/support/faults/system/processes.ts';
import { residentMegabytesOf } from '../bench/process-cpu.ts';

const MEGABYTE = 1024 * 1024;
/** A parent reaps an ended process within this. */
const ASKED_WITHIN_MS = 2_000;

/** @returns values by name, with the unit in the name. */
export async function read(system: FaultSystem): Promise<Map<string, number>> {
  const { services, renderers, redis, mongodb, folder } = system;
  const values = new Map<string, number>();
  for (const { name, pid } of services) {
    const id = pid() ?? 0;
    const own = await residentOf(id);
    values.set(`${name} memory, MB`, own);
    if (renderers.some((renderer) => renderer.name === name))
      values.set(`${name} browser, MB`, residentMegabytesOf([id]) - own);
    values.set(`${name} files, open`, await descriptorsOf(id));
    values.set(`${name} connections, open`, await socketsOf(id));
  }
  const memory = String(await redis.command('INFO', 'memory'));
  values.set('Redis memory, MB', Number(/used_memory:(\d+)/.exec(memory)?.[1]) / MEGABYTE);
  values.set('Redis keys', Number(await redis.command('DBSIZE')));
  values.set('Redis data, MB', await bytesIn(join(folder, 'redis')));
  for (const { index, pid } of mongodb.members) {
    values.set(`MongoDB ${index} memory, MB`, await residentOf(pid()));
    values.set(`MongoDB ${index} data, MB`, await bytesIn(join(folder, `mongodb-${index}`)));
  }
  values.set('temporary folder, MB', await bytesIn(join(folder, 'tmp')));
  values.set('zombies', await zombiesIn(folder));
  values.set(
    'restarts',
    services.reduce((sum, { starts }) => sum + starts() - 1, 0),
  );
  return values;
}

async function zombiesIn(folder: string): Promise<number> {
  const look = async () => (await processesOf(folder)).filter(({ state }) => state === 'Z').map(({ pid }) => pid);
  const first = await look();
  if (first.length === 0) return 0;
  await pause(ASKED_WITHIN_MS);
  const still = await look();
  return first.filter((pid) => still.includes(pid)).length;
}

async function residentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** Returns the bytes of the files on the disk. A file that is removed meanwhile counts as 0. */
async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (found) => (found.isFile() ? found.blocks * 512 : 0),
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / MEGABYTE;
}
