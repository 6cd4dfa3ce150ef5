// Lowers the priority of the renderer below the processes that answer callers, and that of Chromium below the renderer.
// The reasons are in docs/adr/0039-let-the-renderer-give-way.md.
import { readFile, writeFile } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';

/** A third of the weight of an ordinary process. */
const LOWER = 5;
const LOWEST = 19;
/** The command that goes in front of a command line. */
export const LOWER_PRIORITY = ['nice', '-n', String(LOWER)];

/** Lowers the priority of this process. The programs that it starts inherit it. */
export function lowerOwnPriority(): void {
  setPriority(Math.min(LOWEST, getPriority() + LOWER));
}

/**
 * Lowers the priority of a session, because `nice` only counts within one where Linux's autogroup weighs sessions.
 * Chromium is a session of its own.
 * @param pid of a process in the session. Nothing changes for a process in this process's own session.
 */
export async function lowerSessionPriority(pid: number): Promise<void> {
  try {
    const [own, other] = await Promise.all(['self', pid].map(groupOf));
    if (own !== other) await writeFile(`/proc/${pid}/autogroup`, String(LOWER));
  } catch {
    // Another system, or a kernel without autogroup, needs no more than `nice`.
  }
}

async function groupOf(pid: string | number): Promise<string | undefined> {
  const [name] = (await readFile(`/proc/${pid}/autogroup`, 'utf8')).split(' '); // "/autogroup-3030 nice 0"
  return name;
}
