// Measures the memory of the processes of one Chromium.

import { readdir, readFile } from 'node:fs/promises';
import { sumBy } from 'es-toolkit/math/sumBy';

/** Linux's page size on every machine Chromium is built for. */
const PAGE_BYTES = 4096;

export interface ProcessMemory {
  pid: number;
  /** The memory that the process does not share with others. */
  megabytes: number;
}

/**
 * Returns the megabytes of the group without memory that its processes share, or 0 where there is no /proc.
 * @param leader the id of the process that leads the group.
 */
export async function groupMemoryMegabytes(leader: number): Promise<number> {
  const processes = await groupProcesses(leader);
  return Math.round(sumBy(processes, ({ megabytes }) => megabytes));
}

/** Returns the processes of the group, or none where there is no /proc. */
export async function groupProcesses(leader: number): Promise<ProcessMemory[]> {
  const names = await readdir('/proc').catch(() => []);
  const found = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((pid) => memberOf(leader, pid)));
  return found.filter((member) => member !== undefined);
}

async function memberOf(leader: number, pid: string): Promise<ProcessMemory | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The program's name is in parentheses and may contain spaces, so this counts from its end. State, parent and group
    // follow.
    const group = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2];
    if (Number(group) !== leader) return undefined;
    const [, resident = '0', shared = '0'] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
    return { pid: Number(pid), megabytes: ((Number(resident) - Number(shared)) * PAGE_BYTES) / 1024 / 1024 };
  } catch {
    return undefined; // The process ended meanwhile.
  }
}
