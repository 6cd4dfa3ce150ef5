// Caches fetched programs on this machine, with the SHA-256 of every file.
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import lockfile from 'proper-lockfile';
import { sha256 } from './artefacts.ts';
import { cacheFolder } from './cache-folder.ts';
import { type Program, type Proof, prove, type Search } from './program.ts';

export interface Slot {
  name: string; // a folder of the cache, named after the program and, where several versions may live side by side, its version
  proof: Proof;
}

interface Record {
  command: string; // relative to the slot
  source: string;
  sha256: { [file: string]: string };
  // The state of each file when its SHA-256 was last compared. An unchanged file is not read again, because reading
  // 370 MB takes a fifth of a start.
  compared?: { [file: string]: State };
}

interface State {
  bytes: number;
  changedAt: number;
}

const RECORD_FILE = 'program.json';
// The owner renews the lock every few seconds. The lock of a killed owner expires after this time.
const LOCK_STALE_MS = 30_000;
const LOCK_RETRY_MS = 500;
const LOCK_RETRIES = 1_200; // Ten minutes: the time a slow line may need for 200 MB.

// Throws when the slot is empty, damaged or its program does not run here.
export async function readCache(slot: Slot, search: Search): Promise<Program> {
  const folder = join(cacheFolder(search.env), slot.name);
  const record = await readRecord(folder);
  if (!record) throw new Error(`nothing kept in ${folder}`);
  const compared: NonNullable<Record['compared']> = {};
  for (const [file, expected] of Object.entries(record.sha256)) {
    const path = join(folder, file);
    compared[file] = await stateOf(path);
    if (isDeepStrictEqual(compared[file], record.compared?.[file])) continue;
    const actual = await sha256(path).catch(() => 'missing');
    if (actual !== expected) {
      search.progress.say(`  ${path} does not match its checksum and is fetched again`);
      throw new Error(`${path} does not match its checksum`);
    }
  }
  // A cache that cannot be written is compared at each start.
  if (!isDeepStrictEqual(compared, record.compared)) await writeRecord(folder, { ...record, compared }).catch(() => {});
  return await prove(join(folder, record.command), `${record.source}, from the cache`, slot.proof);
}

// Puts a program into the cache. `fill` puts it into an empty folder and returns its path inside. The program must run;
// then one rename moves the folder into place. A second process waits and finds the result.
export async function keepInCache(
  slot: Slot,
  source: string,
  search: Search,
  fill: (folder: string) => Promise<string>,
): Promise<Program> {
  const root = cacheFolder(search.env);
  if (await mkdir(root, { recursive: true })) await chmod(root, 0o755);
  const unlock = await lockSlot(root, slot, search);
  try {
    const made = await readCache(slot, search).catch(() => undefined); // The slot may be empty or damaged.
    if (made) return made;
    await removeLeftovers(root, slot);
    const staging = await mkdtemp(join(root, `.${slot.name}-`));
    try {
      const command = await fill(staging);
      const proven = await prove(join(staging, command), source, slot.proof);
      await writeRecord(staging, await describe(staging, { command, source }));
      await openForReading(staging); // A renderer that runs as root starts its browser as an unprivileged user.
      await rm(join(root, slot.name), { recursive: true, force: true }); // The slot may hold a damaged program.
      await rename(staging, join(root, slot.name));
      return { ...proven, command: join(root, slot.name, command) };
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  } finally {
    await unlock().catch(() => {}); // The lock has expired.
  }
}

async function lockSlot(root: string, slot: Slot, search: Search) {
  // The library knows a lock of this process by the locked file alone, which therefore differs by slot.
  const file = join(root, slot.name);
  const options = { realpath: false, stale: LOCK_STALE_MS }; // The slot does not exist yet.
  try {
    return await lockfile.lock(file, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error;
    search.progress.say(`  Waiting for another process that is filling ${file}`);
    const retries = { retries: LOCK_RETRIES, minTimeout: LOCK_RETRY_MS, maxTimeout: LOCK_RETRY_MS };
    return await lockfile.lock(file, { ...options, retries });
  }
}

// Removes leftovers of a killed process. The lock excludes running ones.
async function removeLeftovers(root: string, slot: Slot) {
  const leftovers = (await readdir(root)).filter((name) => name.startsWith(`.${slot.name}-`));
  await Promise.all(leftovers.map((name) => rm(join(root, name), { recursive: true, force: true })));
}

// Makes a folder readable despite the restrictive umask of `npm start`. Programs are not secret.
async function openForReading(folder: string) {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    if (entry.isFile()) await chmod(path, (await stat(path)).mode & 0o100 ? 0o755 : 0o644);
  }
}

async function readRecord(folder: string): Promise<Record | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, RECORD_FILE), 'utf8')) as Record; // writeRecord wrote the file.
  } catch {
    return undefined; // The file is absent or truncated.
  }
}

async function describe(folder: string, program: { command: string; source: string }): Promise<Record> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const record: Record = { ...program, sha256: {} };
  for (const file of files) record.sha256[file.slice(folder.length + 1)] = await sha256(file);
  return record;
}

// Writes the record at once, because another start may read it.
async function writeRecord(folder: string, record: Record) {
  const next = join(folder, `.${RECORD_FILE}.${process.pid}`);
  await writeFile(next, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o644 });
  await rename(next, join(folder, RECORD_FILE));
}

async function stateOf(file: string): Promise<State> {
  const { size, mtimeMs } = await stat(file).catch(() => ({ size: 0, mtimeMs: 0 })); // The comparison finds it missing.
  return { bytes: size, changedAt: mtimeMs };
}
