// The temporary folder of a renderer, with browser profiles and the font configuration but no customer data. It is
// removed with the renderer.
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = /^billhook-renderer-(\d+)-\w{6}$/;

/** Makes the folder, and removes those of renderers that were killed. */
export async function openTempDir(): Promise<{ folder: string; remove: () => Promise<void> }> {
  await removeAbandoned();
  const folder = await mkdtemp(join(tmpdir(), `billhook-renderer-${process.pid}-`));
  // Chromium may run as another user, which needs access to its profile.
  await chmod(folder, 0o755);
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) };
}

async function removeAbandoned() {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(NAME.exec(name)?.[1]);
    const path = join(tmpdir(), name);
    if (!pid || (await isInUse(pid, path))) continue;
    // A folder of another user cannot be removed.
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function isInUse(pid: number, path: string): Promise<boolean> {
  if (pid !== process.pid) return isAlive(pid);
  // Containers reuse process ids, so the folder belongs to this process only if it is younger.
  const made = await stat(path).catch(() => undefined);
  return made !== undefined && made.ctimeMs > Date.now() - process.uptime() * 1_000;
}

function isAlive(pid: number) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
