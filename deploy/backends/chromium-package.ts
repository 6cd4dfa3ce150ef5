// The headless shell from an npm package, which npm checks against the lock file.
import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import tar from 'tar-fs';
import type { Search } from './program.ts';

const execute = promisify(execFile);
const CHUNK_BYTES = 1024 * 1024;

// The script runs the shell with its bundled libraries. `exec` keeps one process, so that signals reach the browser.
const LAUNCHER = `#!/bin/sh
here=$(dirname -- "$0")
LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/chromium" "$@"
`;

export async function packedVersion(): Promise<string> {
  try {
    const manifest: { version?: unknown } = JSON.parse(await readFile(join(packageFolder(), 'package.json'), 'utf8'));
    return String(manifest.version);
  } catch {
    return 'other'; // The package is not installed.
  }
}

// The package's own unpacking uses the temporary folder, serves one process and has no checksum, so it is not used.
export async function unpackPackedChromium(folder: string, search: Search): Promise<string> {
  const machine = `${process.platform} on ${process.arch}`;
  if (machine !== 'linux on x64') throw new Error(`is made for linux on x64, this is ${machine}`);
  const packed = join(packageFolder(), 'bin', 'chromium.br');
  const target = createWriteStream(join(folder, 'chromium'), { mode: 0o755 });
  await search.progress.during('Unpacking Chromium', (await stat(packed)).size, async (at) => {
    const source = openPacked(packed);
    source.on('data', () => at(source.bytesRead));
    await pipeline(source, inflate(), target);
  });
  if (await findsItsLibraries(join(folder, 'chromium'))) return 'chromium';
  // A minimal system lacks NSS, NSPR or expat. The package brings them, built for an old glibc.
  await pipeline(openPacked(join(packageFolder(), 'bin', 'al2023.tar.br')), inflate(), tar.extract(folder));
  await writeFile(join(folder, 'chromium-with-libraries'), LAUNCHER, { mode: 0o755 });
  return 'chromium-with-libraries';
}

function packageFolder(): string {
  // The package's `exports` hide package.json and bin/, and `import.meta.resolve` does not exist under the test runner.
  const manifest = findPackageJSON('@sparticuz/chromium', import.meta.url);
  if (!manifest) throw new Error('is not installed');
  return dirname(manifest);
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
