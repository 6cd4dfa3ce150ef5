// The private folder for the stores' Unix sockets, at a path short enough for a socket.
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../backends/failure.ts';

/** Linux allows 107 bytes and macOS 103, see unix(7). MongoDB's name is the longest. */
const PATH_BYTES_MAX = 103;
const LONGEST_NAME = '/mongodb-27017.sock';
/** A path that needs no escaping in the URLs of MongoDB and Redis. */
const PLAIN_PATH = /^[\w./+@-]+$/;

/**
 * Opens the folder for sockets: the data folder, or, where its path is too long, a private folder in the temporary
 * folder, always the same one.
 * @param dataFolder already private, with all links resolved.
 * @throws Failure when that folder belongs to another user or is open to others.
 */
export async function openSocketFolder(dataFolder: string): Promise<string> {
  const isShort = Buffer.byteLength(`${dataFolder}${LONGEST_NAME}`) <= PATH_BYTES_MAX;
  if (isShort && PLAIN_PATH.test(dataFolder)) return dataFolder;
  const name = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `billhook-${name}`);
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  // The temporary folder is world-writable, so a folder of this name may be a trap.
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new Failure(`${folder} is needed for sockets and belongs to another user. Choose a shorter --data DIR`);
  await chmod(folder, 0o700);
  return folder;
}
