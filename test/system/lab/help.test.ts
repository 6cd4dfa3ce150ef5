// The command line of every program of the lab: `--help`, and a mistake.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { compiledCode } from '../../../deploy/local/service-env.ts';

const execute = promisify(execFile);
const env = { ...process.env, ...compiledCode(process.env) };
const run = (program: string, words: string[]) => execute(process.execPath, [program, ...words], { env });
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const programs = Object.entries(scripts).flatMap(([name, command]) => {
  const path = / (lab\/\S+\.ts)$/.exec(command)?.[1];
  return path ? [{ name, path }] : [];
});

test('when the scripts are read, then they have the programs of the lab', () => {
  expect(programs.length).toBeGreaterThan(6);
});

test.each(programs)('when $name is asked for help, then it says what it does and how it is called', async (program) => {
  const { stdout } = await run(program.path, ['--help']);

  expect(stdout).toMatch(new RegExp(`^[A-Z][^]+\\.\\n\\nUsage: npm run ${program.name}\\b`));
});

test.each([
  [['--huors', '1'], "Unknown option '--huors'"],
  [['--hours', 'ten'], '--hours must be a number'],
  [['--seed', 'x'], '--seed must be a number'],
])('when a program is called with %j, then it says so and how it is called, and does nothing', async (words, said) => {
  const ended = run('lab/soak/main.ts', words);

  await expect(ended).rejects.toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(said) });
  await expect(ended).rejects.toMatchObject({ stderr: expect.stringContaining('Usage: npm run soak') });
});
