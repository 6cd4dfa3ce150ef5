// Ends the process of a page that uses more memory than a document may, before the container's limit ends all
// processes.
import { readFile } from 'node:fs/promises';
import { groupProcesses } from './process-tree.ts';

/**
 * The pause between two measurements, which read a file of every process. Chromium allocates at most a few hundred
 * megabytes a second.
 */
const LOOK_MS = 200;
/** The time before the first measurement. Most documents are printed by then and never measured. */
const FIRST_LOOK_MS = 300;
/** The longest time from the end of a process until its page reports the crash. */
const CRASH_MS = 2_000;

export interface PageMemory {
  /** Measures while a document is printed. */
  watch(): PrintWatch;
}

interface PrintWatch {
  stop(): void;
  /**
   * Returns true when a page crashed because it was ended here. Chromium does not tell the process of a page, so each
   * process that was ended explains one crash, of a print that was watched then.
   */
  explainsCrash(): boolean;
}

interface Ending {
  pid: number;
  at: number;
  hasExplained: boolean;
}

/**
 * Watches the memory of pages. Does nothing where there is no /proc.
 * @param leader the first process of the Chromium to watch.
 */
export function openPageMemory(leader: number, limitMegabytes: number, measure = groupProcesses): PageMemory {
  /** The processes that were ended in the last seconds. */
  let endings: Ending[] = [];
  let isLooking = false;

  async function look() {
    if (isLooking) return;
    isLooking = true;
    try {
      for (const { pid, megabytes } of await measure(leader)) {
        if (megabytes <= limitMegabytes || !(await isPage(pid))) continue;
        forgetOld();
        // A large process takes a second to die.
        if (!endings.some((ending) => ending.pid === pid)) {
          endings.push({ pid, at: performance.now(), hasExplained: false });
        }
        process.kill(pid, 'SIGKILL');
      }
    } catch {
      // The process ended by itself meanwhile.
    } finally {
      isLooking = false;
    }
  }

  function forgetOld() {
    endings = endings.filter(({ at }) => performance.now() - at < CRASH_MS);
  }

  return {
    watch() {
      const since = performance.now();
      // Each print has its own timer. With one timer for all, a renderer that is always busy would measure all the
      // time.
      let timer = setTimeout(function again() {
        void look();
        timer = setTimeout(again, LOOK_MS);
      }, FIRST_LOOK_MS);
      return {
        stop: () => clearTimeout(timer),
        explainsCrash() {
          forgetOld();
          const cause = endings.find(({ at, hasExplained }) => at > since && !hasExplained);
          if (cause) cause.hasExplained = true;
          return cause !== undefined;
        },
      };
    },
  };
}

/** True for the process of a page. The browser's own process and its services belong to no document. */
async function isPage(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  // A process that was forked from the zygote has its arguments in one, with spaces between them.
  return /[\s\0]--type=renderer[\s\0]/.test(command);
}
