// Processor time and memory of running processes, with all that they started.
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;
const PAGE_MEGABYTES = 4_096 / 1024 / 1024;

/** @returns milliseconds the processes and all their descendants have used so far; NaN where the system does not tell. */
export function cpuMsOf(roots: readonly number[]): number {
  const all = processes();
  if (all.length === 0) return Number.NaN;
  const wanted = withDescendants(roots, all);
  return all.reduce((sum, { pid, cpuMs }) => (wanted.has(pid) ? sum + cpuMs : sum), 0);
}

/** @returns megabytes the processes and all their descendants hold; memory they share counts for each. */
export function residentMegabytesOf(roots: readonly number[]): number {
  const all = processes();
  const wanted = withDescendants(roots, all);
  return all.reduce((sum, { pid, residentPages }) => (wanted.has(pid) ? sum + residentPages : sum), 0) * PAGE_MEGABYTES;
}

function withDescendants(roots: readonly number[], all: readonly { pid: number; parent: number }[]): Set<number> {
  const wanted = new Set(roots);
  for (let before = 0; before < wanted.size; ) {
    before = wanted.size;
    for (const { pid, parent } of all) if (wanted.has(parent)) wanted.add(pid);
  }
  return wanted;
}

function processes() {
  return namesIn('/proc').flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // After the name in parentheses, which may hold anything: state, parent, …; utime, stime and rss are fields 14, 15 and 24 of proc(5).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [
        {
          pid: Number(name),
          parent: Number(fields[1]),
          cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
          residentPages: Number(fields[21]),
        },
      ];
    } catch {
      return []; // It ended while we looked.
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // Not Linux.
  }
}
