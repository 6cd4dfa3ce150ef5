// MongoDB's official archive for this machine. mongodb-memory-server selects and unpacks it, and this file downloads
// it.
import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fetchFile } from './download.ts';
import type { Search } from './program.ts';

const MONGODB_VERSION = '8.2.6';

// Puts `mongod` into the folder and returns its name.
export async function unpackOfficialMongod(folder: string, search: Search): Promise<string> {
  // The library is loaded lazily: a start that finds mongod on the PATH or in the cache does not need it.
  const { MongoBinaryDownload } = await import('mongodb-memory-server-core/lib/util/MongoBinaryDownload.js');
  const { getOS } = await import('mongodb-memory-server-core/lib/util/getos/index.js');
  // The list of artefacts has the SHA-256 of this version. MongoDB's own MD5 comes from the same server as the archive.
  const os = await getOS();
  const official = new MongoBinaryDownload({ downloadDir: folder, version: MONGODB_VERSION, checkMD5: false, os });
  // The library's own download does not check TLS certificates by default and retries a missing host for long.
  official.download = async (url: string) => {
    const archive = basename(new URL(url).pathname);
    const file = join(folder, archive);
    await fetchFile(url, file, `Fetching ${archive}`, search);
    return file;
  };
  const unpacked = await official.getMongodPath();
  await rename(unpacked, join(folder, 'mongod'));
  return 'mongod';
}
