// `npm run spec`: runs the contract suite and prints the specification's rules with the tests that prove them.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provenBy } from '../../test/support/contract/proven-by.ts';
import { rules } from '../../test/support/contract/rules.ts';
import { readCommandLine } from '../command-line.ts';

readCommandLine(
  `Runs the contract tests and prints each rule of the specification with the tests that prove it.

Usage: npm run spec

Ends with 1 when a rule fails or has no test.
`,
  {},
);

interface Outcome {
  testResults: Array<{ name: string; message: string; assertionResults: Array<{ title: string; status: string }> }>;
}

const folder = await mkdtemp(join(tmpdir(), 'billhook-spec-'));
try {
  const outcome = await runSuite(join(folder, 'outcome.json'));
  process.exitCode = report(outcome) ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function runSuite(file: string): Promise<Outcome> {
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const jest = ['node_modules/jest/bin/jest.js', 'contract', '--json', `--outputFile=${file}`, '--silent'];
  process.stderr.write('Running the contract suite…\n');
  const child = spawn(process.execPath, [...flags, ...jest], { stdio: ['ignore', 'ignore', 'pipe'] });
  let problems = '';
  child.stderr.on('data', (chunk) => (problems += String(chunk)));
  await new Promise((resolve) => child.once('exit', resolve));
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Outcome;
  } catch (error) {
    throw new Error(`the suite did not run:\n${problems}`, { cause: error });
  }
}

/** @returns true when every rule is proven. */
function report({ testResults }: Outcome): boolean {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ title, status }) => ({ file: name.split('/').at(-1) ?? '', title, status })),
  );
  let section = '';
  const counts = { pass: 0, fail: 0, 'no test': 0 };
  for (const { id, section: heading, rule } of rules) {
    if (heading !== section) process.stdout.write(`\n${heading}\n`);
    section = heading;
    const proofs = tests.filter(({ title }) => provenBy(title).includes(id));
    const isProven = proofs.every(({ status }) => status === 'passed');
    const verdict = proofs.length === 0 ? 'no test' : isProven ? 'pass' : 'fail';
    counts[verdict] += 1;
    process.stdout.write(`  ${verdict.padEnd(8)}${id.padEnd(30)}${rule}\n`);
    for (const { file, title, status } of proofs) {
      const sign = status === 'passed' ? '✓' : '✗';
      process.stdout.write(`            ${sign} ${file}: ${title.replace(/ \[[^\]]*\]$/, '')}\n`);
    }
  }
  // Tests that are no rule's proof, such as the one that every rule has a test.
  const others = tests.filter(({ title, status }) => provenBy(title).length === 0 && status !== 'passed').length;
  const unloaded = testResults.filter(({ assertionResults, message }) => assertionResults.length === 0 && message);
  for (const { name, message } of unloaded) process.stdout.write(`\n${name} did not load:\n${message}\n`);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  process.stdout.write(
    `\n${rules.length} rules: ${counts.pass} pass, ${counts.fail} fail, ${counts['no test']} without a test. ${tests.length} tests: ${passed} passed.\n`,
  );
  return counts.fail + counts['no test'] + others + unloaded.length === 0;
}
