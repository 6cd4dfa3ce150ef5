// How the operator's programs other than `admin` report a wrong command line: the mistake and the usage, without a stack trace.
import { execFile } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { compiledCode } from '../../../deploy/local/service-env.ts';

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

function run(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { env: { PATH: process.env['PATH'], ...compiledCode(process.env) } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

const PROGRAMS = ['deploy/backup/main.ts', 'deploy/redis/main.ts', 'deploy/docker/prepare.ts'];

test.each(PROGRAMS)('when %s is asked for help, then it prints its usage', async (program) => {
  const { code, stdout } = await run(program, '--help');

  expect(code).toBe(0);
  expect(stdout).toContain('Usage: ');
});

test.each(PROGRAMS)('when %s gets an unknown option, then the error names it and the usage', async (program) => {
  const { code, stderr } = await run(program, '--floder', 'x');

  expect(code).toBeGreaterThan(0);
  expect(stderr).toMatch(/^Unknown option '--floder'/);
  expect(stderr).toMatch(/--help|Usage:/);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test('when a backup is given two folders, then it prints its usage and does nothing', async () => {
  expect(await run('deploy/backup/main.ts', 'save', 'one', 'other')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Usage:/),
  });
});

test('when the program of Redis users gets several wrong values, then all are named at once, and no Secret is printed', async () => {
  const wrong = ['--url', 'redis://ada:one@host:6379', '--prefix', 'a b', '--namespace', 'Billing', '--kubernetes'];

  const { code, stdout, stderr } = await run('deploy/redis/main.ts', ...wrong, '--folder', 'x');

  expect([code, stdout]).toEqual([2, '']);
  for (const option of ['--url', '--prefix', '--namespace', 'either --folder']) expect(stderr).toContain(option);
});
