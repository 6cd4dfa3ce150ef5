// Runs chosen tests of a copy of the project and says whether they noticed something.
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mutant } from './mutant.ts';

export interface Outcome {
  /** `broken`: no test came to an answer, so nothing is shown. */
  verdict: 'green' | 'red' | 'broken';
  ran: number;
  note: string;
}

/** What of jest's report is looked at. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { message: string; assertionResults: { status: string; fullName: string }[] }[];
}

/** Each test ends by its own limit long before. */
const LIMIT_MS = 15 * 60_000;

export async function runOracles(
  folder: string,
  env: NodeJS.ProcessEnv,
  oracles: Mutant['oracle'][],
): Promise<Outcome> {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const names = oracles.map(({ test }) => test.replaceAll('%s', '.*?').replaceAll(/[()+$[\]{}|^]/g, String.raw`\$&`));
  const files = [...new Set(oracles.map(({ file }) => file))];
  const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const options = ['-t', names.join('|'), '--json', `--outputFile=${report}`, '--forceExit', '--silent'];
  const output = await run([...jest, ...options, '--runTestsByPath', ...files], folder, env);
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return { verdict: 'broken', ran: 0, note: output.slice(-2_000) };

  const { numPassedTests, numFailedTests, testResults } = JSON.parse(text) as Report;
  const ran = numPassedTests + numFailedTests;
  const note = testResults
    .map(({ message }) => message)
    .join('\n')
    .slice(0, 4_000);
  const silent = testResults.filter(({ assertionResults }) =>
    assertionResults.every(({ status }) => status === 'pending'),
  );
  if (numFailedTests > 0) return { verdict: 'red', ran, note };
  return silent.length > 0 || testResults.length < files.length
    ? { verdict: 'broken', ran, note: note || 'no test has this name' }
    : { verdict: 'green', ran, note };
}

function run(args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    child.once('close', () => resolve(output));
  });
}
