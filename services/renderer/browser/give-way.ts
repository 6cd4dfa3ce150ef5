// The renderer gives way to the processes that answer callers, where it shares processors with them, and Chromium to the renderer. Why: docs/adr/0039-let-the-renderer-give-way.md
import { readFile, writeFile } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';

/** A third of the weight of an ordinary process. */
const LOWER = 5;
const LOWEST = 19;
/** In front of a command line. */
export const LOWER_PRIORITY = ['nice', '-n', String(LOWER)];

/** The programs that this process starts inherit it. */
export function lowerOwnPriority(): void {
  setPriority(Math.min(LOWEST, getPriority() + LOWER));
}

/**
 * Where Linux's autogroup weighs sessions, `nice` only counts within one. Chromium is a session of its own.
 * @param pid of a process in the session. Nothing changes where it is in this process's own.
 */
export async function lowerSessionPriority(pid: number): Promise<void> {
  try {
    const [own, other] = await Promise.all(['self', pid].map(groupOf));
    if (own !== other) await writeFile(`/proc/${pid}/autogroup`, String(LOWER));
  } catch {
    // Another system, or a kernel without autogroup: there `nice` is enough.
  }
}

async function groupOf(pid: string | number): Promise<string | undefined> {
  const [name] = (await readFile(`/proc/${pid}/autogroup`, 'utf8')).split(' '); // "/autogroup-3030 nice 0"
  return name;
}
