// Processor time of running processes, with all that they started.
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** @returns milliseconds the processes and all their descendants have used so far; NaN where the system does not tell. */
export function cpuMsOf(roots: readonly number[]): number {
  const all = processes();
  if (all.length === 0) return Number.NaN;
  const wanted = new Set(roots);
  for (let before = 0; before < wanted.size; ) {
    before = wanted.size;
    for (const { pid, parent } of all) if (wanted.has(parent)) wanted.add(pid);
  }
  return all.reduce((sum, { pid, cpuMs }) => (wanted.has(pid) ? sum + cpuMs : sum), 0);
}

function processes() {
  return namesIn('/proc').flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // After the name in parentheses, which may hold anything: state, parent, …; utime and stime are fields 14 and 15 of proc(5).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [
        { pid: Number(name), parent: Number(fields[1]), cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS },
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
