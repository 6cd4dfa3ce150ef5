// `npm run mutants [words]`: takes each safety out of a copy of the project once and shows that a test goes red. A test of the tests.
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { startBackends } from '../support/backends.ts';
import { applied, type Mutant } from './mutant.ts';
import { mutants } from './mutants.ts';
import { type Outcome, runOracles } from './run-oracles.ts';

const LEFT_OUT = new Set(['node_modules', '.git', '.hypothesis', '.schemathesis', 'coverage']);
const root = resolve(import.meta.dirname, '../..');
const words = process.argv.slice(2);
const chosen = mutants.filter(({ gone }) => words.every((word) => gone.includes(word)));

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
  const oracles = chosen.map(({ oracle }) => oracle);
  let calm = await runOracles(copy, env, oracles);
  // A machine that is busy with something else may make a test late; a second time it would be the test.
  if (calm.verdict !== 'green') calm = await runOracles(copy, env, oracles);
  // A test that is red anyway proves nothing.
  if (calm.verdict !== 'green') {
    process.stdout.write(`The oracles are not green without any mutant: ${calm.verdict}\n${calm.note}\n`);
    return 2;
  }
  process.stdout.write(`${calm.ran} tests are green without a mutant\n\n| Gone | Noticed by | Red? |\n|---|---|---|\n`);
  let survivors = 0;
  for (const mutant of chosen) {
    const { verdict, note } = await runMutant(mutant);
    if (verdict !== 'red') survivors += 1;
    const { file, test } = mutant.oracle;
    const said = verdict === 'red' ? 'red' : `**${verdict}** ${note}`;
    process.stdout.write(`| ${mutant.gone} | ${relative('test', file)}: ${test} | ${said} |\n`);
  }
  process.stdout.write(`\n${chosen.length - survivors} of ${chosen.length} mutants turned their test red\n`);
  return survivors === 0 ? 0 : 1;
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
    return await runOracles(copy, env, [oracle]);
  } finally {
    for (const [path, source] of originals) await writeFile(path, source);
  }
}
