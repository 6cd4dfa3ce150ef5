// A folder of its own for each test, with pretended programs in it.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';

/** @returns a function that makes an empty folder, gone after the test. */
export function scratchFolders() {
  const made: string[] = [];
  afterEach(async () => {
    // A server that was just ended may still write a last file into it.
    for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'billhook-local-'));
    made.push(folder);
    return folder;
  };
}

/** Writes an executable shell script and answers its path. */
export async function script(folder: string, name: string, body: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return file;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
