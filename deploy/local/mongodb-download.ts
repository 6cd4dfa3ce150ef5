// MongoDB's official archive for this machine. The library knows which one fits and unpacks it; the transfer is ours.
import { execFile } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { fetchFile } from './download.ts';
import type { Search } from './program.ts';

const execute = promisify(execFile);
// Archives for these systems are linked with OpenSSL 1.1, which newer systems do not have.
const OPENSSL_1_1 = /ubuntu(18|20)04|debian(9|10|11)|rhel[78]|amazon2-|suse1[25]/;

// Leaves `mongod` in the folder and answers its name.
export async function unpackOfficialMongod(folder: string, search: Search): Promise<string> {
  // Loaded only here: a start that finds its mongod on PATH or in the cache never pays for it.
  const { MongoBinaryDownload } = await import('mongodb-memory-server-core/lib/util/MongoBinaryDownload.js');
  const { getOS } = await import('mongodb-memory-server-core/lib/util/getos/index.js');
  const official = new MongoBinaryDownload({ downloadDir: folder, checkMD5: true, os: await getOS() });
  // The library's own transfer does not check TLS certificates unless npm is told to, and retries a missing host for long.
  official.download = async (url: string) => {
    const archive = basename(new URL(url).pathname);
    if (process.platform === 'linux' && !archive.endsWith('.md5')) await refuseMissingLibraries(archive);
    const file = join(folder, archive);
    await fetchFile(url, file, `Fetching ${archive}`, search);
    return file;
  };
  const unpacked = await official.getMongodPath();
  await rename(unpacked, join(folder, 'mongod'));
  await rm(`${unpacked}.md5`, { force: true });
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
