// Ends the process of a page that uses more memory than a document may, before the container's limit ends all processes.
import { readFile } from 'node:fs/promises';
import { groupProcesses } from './process-tree.ts';

/** Between two measurements, each of which reads a file of every process: Chromium allocates at most a few hundred megabytes a second. */
const LOOK_MS = 200;
/** Most documents are printed by then and are never measured. */
const FIRST_LOOK_MS = 300;
/** From the end of a process until its page reports the crash. */
const CRASH_MS = 2_000;

export interface PageMemory {
  /** Measures while a document is printed. @returns a function that stops it. */
  watch(): () => void;
  /** True when a page that crashes now was ended here. */
  hasJustEnded(): boolean;
}

/**
 * Does nothing where there is no /proc.
 * @param leader the first process of the Chromium whose pages are watched.
 */
export function openPageMemory(leader: number, limitMegabytes: number, measure = groupProcesses): PageMemory {
  let endedAt = Number.NEGATIVE_INFINITY;
  let isLooking = false;

  async function look() {
    if (isLooking) return;
    isLooking = true;
    try {
      for (const { pid, megabytes } of await measure(leader)) {
        if (megabytes <= limitMegabytes || !(await isPage(pid))) continue;
        endedAt = performance.now();
        process.kill(pid, 'SIGKILL');
      }
    } catch {
      // The process ended by itself meanwhile.
    } finally {
      isLooking = false;
    }
  }

  return {
    watch() {
      // A timer for each print: with one for all, a renderer that is always busy measures all the time.
      let timer = setTimeout(function again() {
        void look();
        timer = setTimeout(again, LOOK_MS);
      }, FIRST_LOOK_MS);
      return () => clearTimeout(timer);
    },
    hasJustEnded: () => performance.now() - endedAt < CRASH_MS,
  };
}

/** Not the browser's own process, nor one of its services: those belong to no document. */
async function isPage(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  // A process that was forked from the zygote has its arguments in one, with spaces between them.
  return /[\s\0]--type=renderer[\s\0]/.test(command);
}
