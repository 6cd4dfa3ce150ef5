// MongoDB's official archive for this machine. The library knows which one fits and unpacks it; the transfer is ours.
import { execFile } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { fetchFile } from './download.ts';
import type { Search } from './program.ts';

const execute = promisify(execFile);
const MONGODB_VERSION = '8.2.6';
// Archives for these systems are linked with OpenSSL 1.1, which newer systems do not have.
const OPENSSL_1_1 = /ubuntu(18|20)04|debian(9|10|11)|rhel[78]|amazon2-|suse1[25]/;

// Leaves `mongod` in the folder and answers its name.
export async function unpackOfficialMongod(folder: string, search: Search): Promise<string> {
  // Loaded only here: a start that finds its mongod on PATH or in the cache never pays for it.
  const { MongoBinaryDownload } = await import('mongodb-memory-server-core/lib/util/MongoBinaryDownload.js');
  const { getOS } = await import('mongodb-memory-server-core/lib/util/getos/index.js');
  // Our list has checksums of this version; MongoDB's own MD5 comes from the same server as the archive.
  const os = await getOS();
  const official = new MongoBinaryDownload({ downloadDir: folder, version: MONGODB_VERSION, checkMD5: false, os });
  // The library's own transfer does not check TLS certificates unless npm is told to, and retries a missing host for long.
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

// Known before 100 MB are fetched for nothing.
async function refuseMissingLibraries(archive: string) {
  const openssl = OPENSSL_1_1.test(archive) ? ['libcrypto.so.1.1', 'libssl.so.1.1'] : ['libcrypto.so.3', 'libssl.so.3'];
  const known = await execute('/sbin/ldconfig', ['-p']).then(
    ({ stdout }) => stdout,
    () => undefined, // No way to ask: the proof after the download will tell.
  );
  const missing =
    known === undefined ? [] : ['libcurl.so.4', ...openssl].filter((library) => !known.includes(`${library} `));
  if (missing.length > 0) throw new Error(`${archive} needs ${missing.join(', ')}, which this machine does not have`);
}
