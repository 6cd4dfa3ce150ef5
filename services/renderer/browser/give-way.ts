// Chromium gives way to the processes that answer callers, where it shares processors with them. Why: docs/adr/0039-let-chromium-give-way.md
import { readFile, writeFile } from 'node:fs/promises';

/** In front of a command line: a third of the weight of an ordinary process. */
export const LOWER_PRIORITY = ['nice', '-n', '5'];
/** The same of a session. */
const SESSION_NICE = 5;

/**
 * Where Linux's autogroup weighs sessions, `nice` only counts within one. Chromium is a session of its own.
 * @param pid of a process in the session. Nothing changes where it is in this process's own.
 */
export async function lowerSessionPriority(pid: number): Promise<void> {
  try {
    const [own, other] = await Promise.all(['self', pid].map(groupOf));
    if (own !== other) await writeFile(`/proc/${pid}/autogroup`, String(SESSION_NICE));
  } catch {
    // Another system, or a kernel without autogroup: there `nice` is enough.
  }
}

async function groupOf(pid: string | number): Promise<string | undefined> {
  const [name] = (await readFile(`/proc/${pid}/autogroup`, 'utf8')).split(' '); // "/autogroup-3030 nice 0"
  return name;
}
