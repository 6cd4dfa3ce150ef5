// `npm run release [-- --dry-run]`: checks that main can be released, builds the artefacts with their SHA-256 sums, and tags.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { type Facts, notesOf, problemsOf, type Step, stepsOf, sumLine, tagOf } from './plan.ts';

const ROOT = join(import.meta.dirname, '../..');

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });
const facts = await readFacts();
const folder = join(ROOT, 'dist', facts.version);
const steps = stepsOf(facts, folder);
const problems = problemsOf(facts);

say(`Version ${facts.version}${facts.hasDocker ? '' : '; Docker is not running: no images'}`);
if (values['dry-run']) {
  for (const { name, command } of steps) say(`would run: ${name} (${command.join(' ').replaceAll(`${ROOT}/`, '')})`);
  say(`would write: dist/${facts.version}/SHA256SUMS`);
  say(`would tag: ${tagOf(facts.version)}`);
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else if (!values['dry-run']) await release();

async function release(): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const step of steps) run(step);
  const sums = await sumsOf(folder);
  await writeFile(join(folder, 'SHA256SUMS'), sums);
  const message = `Billhook ${facts.version}\n\n${notesOf(facts.changelog, facts.version)}\n\nSHA-256:\n${sums}`;
  // Git would take the headings of the notes for comments.
  run({
    name: 'tag',
    command: ['git', 'tag', '--annotate', '--cleanup=verbatim', tagOf(facts.version), '--message', message],
  });
  say(
    `${tagOf(facts.version)} is tagged; the artefacts are in dist/${facts.version}. Push the tag: git push origin ${tagOf(facts.version)}`,
  );
}

async function sumsOf(from: string): Promise<string> {
  const files = (await readdir(from)).toSorted();
  const lines = await Promise.all(
    files.map(async (file) => {
      const hash = createHash('sha256');
      await pipeline(createReadStream(join(from, file)), hash);
      return sumLine(hash.digest('hex'), file);
    }),
  );
  return lines.join('');
}

async function readFacts(): Promise<Facts> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return {
    branch: read('git', ['rev-parse', '--abbrev-ref', 'HEAD']) ?? '',
    isClean: read('git', ['status', '--porcelain']) === '',
    hasIdentity: read('git', ['var', 'GIT_COMMITTER_IDENT']) !== undefined,
    version,
    changelog: await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'),
    tags: (read('git', ['tag', '--list']) ?? '').split('\n'),
    hasDocker: read('docker', ['info']) !== undefined,
    hasCompose: read('docker', ['compose', 'version']) !== undefined,
    hasPython:
      read('python3', ['-c', 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))']) !== undefined,
  };
}

/** Returns the output of a program, or undefined when it failed or does not exist. */
function read(program: string, args: string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function run({ name, command: [program, ...args], env }: Step): void {
  say(`${name} …`);
  const { status } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${name} failed: nothing is tagged`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
