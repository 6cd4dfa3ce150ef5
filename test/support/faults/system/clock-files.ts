// Tells a service which time its clock shows, and how the service confirms it.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { eventually } from '../../eventually.ts';

const TAKEN_LIMIT_MS = 60_000;

/** By how many milliseconds the clock is to be ahead (behind, when negative). */
export const offsetFile = (prefix: string) => `${prefix}.offset`;
/** By how many it is. */
export const takenFile = (prefix: string) => `${prefix}.taken`;

/** Returns the environment of a service whose clock can be set. @param prefix of the files. */
export function withClock(prefix: string): Record<string, string> {
  return { CLOCK_FILES: prefix, NODE_OPTIONS: `--import=${import.meta.resolve('./shifted-clock.ts')}` };
}

/** Sets the clock of the running service; one that is started later begins with it. */
export async function setClock(prefix: string, offsetMs: number): Promise<void> {
  await writeFile(`${offsetFile(prefix)}.new`, String(offsetMs));
  // In one step: half a number would be another one.
  await rename(`${offsetFile(prefix)}.new`, offsetFile(prefix));
  await eventually(async () => Number(await readFile(takenFile(prefix), 'utf8')) === offsetMs, TAKEN_LIMIT_MS);
}
