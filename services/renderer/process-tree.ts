// How much memory the processes of one Chromium hold.
import { readdir, readFile } from 'node:fs/promises';

/** Linux's page size on every machine Chromium is built for. */
const PAGE_BYTES = 4096;

/**
 * @param leader the id of the process that leads the group.
 * @returns megabytes the group holds for itself (memory shared between its processes counted not at all); 0 where there is no /proc.
 */
export async function groupMemoryMegabytes(leader: number): Promise<number> {
  const names = await readdir('/proc').catch(() => []);
  const sizes = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((pid) => ownPages(pid, leader)));
  return Math.round((sizes.reduce((sum, pages) => sum + pages, 0) * PAGE_BYTES) / 1024 / 1024);
}

async function ownPages(pid: string, leader: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The program's name stands in parentheses and may hold spaces: count from its end. State, parent, group follow.
    const group = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2];
    if (Number(group) !== leader) return 0;
    const [, resident = '0', shared = '0'] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
    return Number(resident) - Number(shared);
  } catch {
    return 0; // It ended while we looked.
  }
}
