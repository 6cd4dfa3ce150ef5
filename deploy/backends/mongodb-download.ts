// MongoDB's official archive for this machine. mongodb-memory-server selects and unpacks it; we download it.
import { execFile } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { fetchFile } from './download.ts';
import type { Search } from './program.ts';

const execute = promisify(execFile);
const MONGODB_VERSION = '8.2.6';
// Archives for these systems need OpenSSL 1.1, which newer systems lack.
const OPENSSL_1_1 = /ubuntu(18|20)04|debian(9|10|11)|rhel[78]|amazon2-|suse1[25]/;

// Puts `mongod` into the folder and returns its name.
export async function unpackOfficialMongod(folder: string, search: Search): Promise<string> {
  // Loaded lazily: a start that finds mongod on the PATH or in the cache does not need it.
  const { MongoBinaryDownload } = await import('mongodb-memory-server-core/lib/util/MongoBinaryDownload.js');
  const { getOS } = await import('mongodb-memory-server-core/lib/util/getos/index.js');
  // Our list has the SHA-256 of this version; MongoDB's own MD5 comes from the same server as the archive.
  const os = await getOS();
  const official = new MongoBinaryDownload({ downloadDir: folder, version: MONGODB_VERSION, checkMD5: false, os });
  // The library's own download does not check TLS certificates by default and retries a missing host for long.
  official.download = async (url: string) => {
    const archive = basename(new URL(url).pathname);
    if (process.platform === 'linux') await refuseMissingLibraries(archive);
    const file = join(folder, archive);
    await fetchFile(url, file, `Fetching ${archive}`, search);
    return file;
  };
  const unpacked = await official.getMongodPath();
  await rename(unpacked, join(folder, 'mongod'));
  return 'mongod';
}

// Checked before 100 MB are downloaded.
async function refuseMissingLibraries(archive: string) {
  const openssl = OPENSSL_1_1.test(archive) ? ['libcrypto.so.1.1', 'libssl.so.1.1'] : ['libcrypto.so.3', 'libssl.so.3'];
  const known = await execute('/sbin/ldconfig', ['-p']).then(
    ({ stdout }) => stdout,
    () => undefined, // Unknown: the check after the download decides.
  );
  const missing =
    known === undefined ? [] : ['libcurl.so.4', ...openssl].filter((library) => !known.includes(`${library} `));
  if (missing.length > 0) throw new Error(`${archive} needs ${missing.join(', ')}, which this machine does not have`);
}
