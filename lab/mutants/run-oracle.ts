// Runs one test of a copy of the project and says whether it noticed something.
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mutant } from './mutant.ts';

export interface Outcome {
  /** `broken`: no test came to an answer, so nothing is shown. */
  verdict: 'green' | 'red' | 'broken';
  note: string;
}

/** What of jest's report is looked at. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { message: string }[];
}

/** Each test ends by its own limit long before. */
const LIMIT_MS = 15 * 60_000;
const NOTE_LONGEST = 2_000;

export async function runOracle(
  folder: string,
  env: NodeJS.ProcessEnv,
  { file, test }: Mutant['oracle'],
): Promise<Outcome> {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const name = test.replaceAll(/[()+$[\]{}|^]/g, String.raw`\$&`).replaceAll('%s', '.*?');
  const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const options = ['-i', '-t', name, '--json', `--outputFile=${report}`, '--forceExit', '--silent'];
  const output = await run([...jest, ...options, '--runTestsByPath', file], folder, env);
  const text = await readFile(report, 'utf8').catch(() => undefined);
  if (text === undefined) return { verdict: 'broken', note: output.slice(-NOTE_LONGEST) };

  const { numPassedTests, numFailedTests, testResults } = JSON.parse(text) as Report;
  const note = testResults
    .map(({ message }) => message)
    .join(' ')
    .slice(0, NOTE_LONGEST);
  if (numFailedTests > 0) return { verdict: 'red', note };
  return numPassedTests > 0 ? { verdict: 'green', note } : { verdict: 'broken', note: note || 'no test has this name' };
}

function run(args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    child.once('close', () => resolve(output));
  });
}
