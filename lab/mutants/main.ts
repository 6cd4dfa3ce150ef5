// `npm run mutants`: takes each safeguard out of a copy of the project once and shows that a test goes red. A test of the tests. `--help` says how.
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { startBackends } from '../../test/support/backends.ts';
import { readCommandLine } from '../command-line.ts';
import { applied, type Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';
import { type Outcome, runOracle } from './run-oracle.ts';

const HELP = `Takes each safeguard out of a copy of the project once, and shows that the test that stands for it goes red.

Usage: npm run mutants -- [words of a safeguard or of its test file]

Ends with 1 when a test stays green.
`;

const { positionals } = readCommandLine(HELP, { allowPositionals: true });
const LEFT_OUT = new Set(['node_modules', '.git', '.hypothesis', '.schemathesis', 'coverage']);
/** A machine that is busy with something else may make a test late; a second time it would be the test. */
const TRIES = 2;
const root = resolve(import.meta.dirname, '../..');
const chosen = mutants.filter(({ gone, oracle }) =>
  positionals.every((word) => `${gone} ${oracle.file}`.includes(word)),
);

/** Oracles that are green without a mutant. */
const green = new Set<string>();

const backends = await startBackends(process.env);
const env = { ...process.env, MONGODB_URI: backends.mongodbUri, REDIS_URL: backends.redisUrl };
const copy = await mkdtemp(join(tmpdir(), 'billhook-mutants-'));
try {
  await cp(root, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(root, path)) });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  process.exitCode = await runAll();
} finally {
  await rm(copy, { recursive: true, force: true });
  await backends.stop();
}

async function runAll(): Promise<number> {
  process.stdout.write('| Gone | Noticed by | Red? |\n|---|---|---|\n');
  let noticed = 0;
  for (const mutant of chosen) {
    const said = await trial(mutant);
    if (said === 'red') noticed += 1;
    const { file, test } = mutant.oracle;
    process.stdout.write(`| ${mutant.gone} | ${relative('test', file)}: ${test} | ${said} |\n`);
  }
  process.stdout.write(`\n${noticed} of ${chosen.length} mutants turned their test red\n`);
  return noticed === chosen.length ? 0 : 1;
}

async function trial(mutant: Mutant): Promise<string> {
  // A test that is red anyway proves nothing.
  if (!(await isGreen(mutant.oracle))) return '**unclear**: the test is red without the mutant, too';
  const { verdict, note } = await runMutant(mutant);
  return verdict === 'red' ? 'red' : `**${verdict}** ${note}`;
}

async function isGreen(oracle: Mutant['oracle']): Promise<boolean> {
  const name = `${oracle.file} ${oracle.test}`;
  if (green.has(name)) return true;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if ((await runOracle(copy, env, oracle)).verdict === 'green') return Boolean(green.add(name));
  }
  return false;
}

async function runMutant({ edits, oracle }: Mutant): Promise<Outcome> {
  const originals = new Map<string, string>();
  try {
    for (const edit of edits) {
      const path = join(copy, edit.file);
      const source = await readFile(path, 'utf8');
      if (!originals.has(path)) originals.set(path, source);
      await writeFile(path, applied(source, edit));
    }
    return await runOracle(copy, env, oracle);
  } finally {
    for (const [path, source] of originals) await writeFile(path, source);
  }
}
