// How a process says that one of its commands would ask all shards, and how its tests read that.
export const UNPLANNED = 'unplanned command: ';

/** Returns what a process said about its commands. */
export function unplannedIn(output: string): string[] {
  return output.split('\n').filter((line) => line.startsWith(UNPLANNED));
}
