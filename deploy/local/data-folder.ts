// The data folder: data, logs, secrets and local.json. One system at a time may use it.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import Joi from 'joi';
import { EXIT_CONFIG } from '#libs/service/config-error.ts';
import { variables } from '#libs/service/env.ts';
import { Failure, reasonOf } from '../backends/failure.ts';
import { openSocketFolder } from './socket-folder.ts';

export interface DataFolder {
  path: string; // with all links resolved; it also marks the system's processes
  release(): Promise<void>;
}

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;
/** The process id of the last owner. Exists in every data folder since its first start. */
const OWNER_RECORD = 'supervisor.pid';
const LOG_SIZE_MAX = 10 * 1024 * 1024;
const LOG_CHECK_MS = 60_000;

export async function openDataFolder(wanted: string): Promise<DataFolder> {
  const path = await makeFolder(wanted);
  const unlock = await lock(path);
  await mkdir(join(path, 'logs'), { recursive: true });
  const stopLooking = await keepLogsSmall(join(path, 'logs'));
  const release = async () => {
    stopLooking();
    await unlock();
  };
  return { path, release };
}

export function logFileOf(dataFolder: string, name: string): string {
  return join(dataFolder, 'logs', `${name}.log`);
}

// Writes a file atomically: a reader sees the old file or the new one.
export async function writePrivately(file: string, content: unknown): Promise<void> {
  const next = `${file}.${process.pid}.next`;
  await writeFile(next, `${JSON.stringify(content, null, 2)}\n`, { mode: OWNER_ONLY, flush: true });
  await rename(next, file);
}

export async function readPrivate<Content>(file: string): Promise<Partial<Content>> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Partial<Content>; // writePrivately wrote the file.
  } catch {
    return {}; // The file is absent or damaged, and the caller writes a new one.
  }
}

const factsFile = (dataFolder: string) => join(dataFolder, 'local.json');

// At once, so that the facts of two changes cannot overtake each other.
export function writeFacts(dataFolder: string, facts: object): void {
  const next = `${factsFile(dataFolder)}.${process.pid}.next`;
  writeFileSync(next, `${JSON.stringify(facts, null, 2)}\n`, { mode: OWNER_ONLY });
  renameSync(next, factsFile(dataFolder));
}

export async function removeFacts(dataFolder: string): Promise<void> {
  await rm(factsFile(dataFolder), { force: true });
}

const keptKeyForm = variables.SECRET_KEY.label('secretKey').prefs({ errors: { wrap: { label: false } } });

// Returns the secret key. It is generated once, because it decrypts stored secrets. An unreadable file is never
// replaced, because it may be the only copy.
export async function secretKeyOf(dataFolder: string): Promise<string> {
  const file = join(dataFolder, 'secret-key.json');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unusableKey(file, reasonOf(error));
    const made = randomBytes(32).toString('base64');
    await writePrivately(file, { secretKey: made });
    return made;
  }
  try {
    const { secretKey } = JSON.parse(text) as { secretKey?: unknown };
    return Joi.attempt(secretKey, keptKeyForm) as string;
  } catch (error) {
    // The parser's own message would quote the file's content.
    throw unusableKey(file, Joi.isError(error) ? error.message : 'it is no JSON');
  }
}

function unusableKey(file: string, reason: string): Failure {
  return new Failure(
    `The key in ${file} cannot be used: ${reason}. Webhook secrets are encrypted with it: repair the file, or put back a copy. ` +
      'Without it they are lost; to go on all the same remove the file, and rotate the secret of every webhook',
    { exitCode: EXIT_CONFIG },
  );
}

async function makeFolder(wanted: string): Promise<string> {
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    const path = await realpath(wanted);
    await closeToOthers(path);
    const probe = join(path, `.writable-${process.pid}`);
    await writeFile(probe, '');
    await rm(probe);
    return path;
  } catch (error) {
    throw new Failure(`The data folder ${wanted} cannot be used (${reasonOf(error)}). Choose another with --data DIR`);
  }
}

// Makes the folder private, because it contains records, keys and the stores' sockets. It must be empty or an earlier
// data folder. Any other folder is rejected, because other programs may rely on its permissions (/tmp, a home
// directory).
async function closeToOthers(path: string): Promise<void> {
  const { uid, mode } = await stat(path);
  const ours = process.getuid?.() ?? uid;
  if (uid !== ours) throw new Error(`it belongs to another user, with the number ${uid}`);
  if ((mode & OTHERS) === 0) return;
  const names = await readdir(path);
  if (names.length > 0 && !names.includes(OWNER_RECORD))
    throw new Error('other users may enter it, and it holds things that are not ours: chmod 700 closes it');
  await chmod(path, 0o700);
}

// The lock is a socket. The kernel keeps it open exactly as long as the process lives, also while it is suspended by Ctrl-Z.
async function lock(path: string): Promise<() => Promise<void>> {
  const record = join(path, OWNER_RECORD);
  const socket = join(await openSocketFolder(path), 'supervisor.sock');
  if (await isListening(socket)) {
    const owner = await readFile(record, 'utf8').catch(() => '');
    throw new Failure(
      `Billhook already runs on the data folder ${path} (process ${owner.trim()}). Stop it, or choose another with --data DIR`,
    );
  }
  await rm(socket, { force: true }); // A killed owner left it.
  const server = createServer((connection) => connection.destroy()).listen(socket);
  await once(server, 'listening');
  await writeFile(record, `${process.pid}\n`);
  return () => new Promise((resolve) => server.close(() => resolve()));
}

async function isListening(socket: string): Promise<boolean> {
  const connection = connect(socket);
  try {
    await once(connection, 'connect');
    return true;
  } catch (error) {
    return !['ENOENT', 'ECONNREFUSED'].includes((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    connection.destroy();
  }
}

// Keeps one old log per process, so that logs do not fill the disk.
async function keepLogsSmall(folder: string): Promise<() => void> {
  await setLargeLogsAside(folder);
  // The disk is full or the folder was removed. The next rotation tries again.
  const timer = setInterval(() => void setLargeLogsAside(folder).catch(() => {}), LOG_CHECK_MS).unref();
  return () => clearInterval(timer);
}

// Copies and truncates large logs instead of renaming them, because the writer keeps the file open. A line written in
// between is lost.
export async function setLargeLogsAside(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (!name.endsWith('.log') || (await stat(file)).size <= LOG_SIZE_MAX) continue;
    await copyFile(file, `${file}.old`);
    await truncate(file);
  }
}
