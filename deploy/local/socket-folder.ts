// Where the sockets of our stores are: in a folder that no other user of the machine can enter, at a path short enough for a socket.
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../backends/failure.ts';

/** Linux takes 107 bytes and macOS 103, see unix(7); the longest name is MongoDB's. */
const PATH_BYTES_MAX = 103;
const LONGEST_NAME = '/mongodb-27017.sock';
/** Goes through MongoDB's and Redis' addresses unchanged. */
const PLAIN_PATH = /^[\w./+@-]+$/;

/**
 * @param dataFolder closed to others already, with every link resolved.
 * @returns the data folder, or for a path that no socket can have a closed folder among the temporary files, always the same one.
 * @throws Failure when that one belongs to another user or is open to others.
 */
export async function openSocketFolder(dataFolder: string): Promise<string> {
  const isShort = Buffer.byteLength(`${dataFolder}${LONGEST_NAME}`) <= PATH_BYTES_MAX;
  if (isShort && PLAIN_PATH.test(dataFolder)) return dataFolder;
  const name = createHash('sha256').update(dataFolder).digest('hex').slice(0, 16);
  const folder = join(tmpdir(), `billhook-${name}`);
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  // Everyone may write to the folder of temporary files: what has our name there may be a trap.
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new Failure(`${folder} is needed for sockets and belongs to another user. Choose a shorter --data DIR`);
  await chmod(folder, 0o700);
  return folder;
}
