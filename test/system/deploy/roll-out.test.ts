// The steps of an upgrade on Kubernetes: in order, and none after a failure. A fake kubectl records its calls.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'billhook-roll-out-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** @param fake what kubectl does, in bash, with its arguments in $*. @returns how the script ended and its calls of kubectl. */
async function rollOut(fake: string, ...args: string[]) {
  const log = join(folder, 'asked');
  writeFileSync(log, '');
  writeFileSync(join(folder, 'kubectl'), `#!/usr/bin/env bash\necho "$*" >> '${log}'\n${fake}\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
  const ended = await execute('deploy/kubernetes/roll-out.sh', args, { env, timeout: 20_000 }).catch((error) => error);
  const calls = readFileSync(log, 'utf8').trim().split('\n');
  return { code: ended.code ?? 0, stderr: ended.stderr as string, calls };
}

/** The job's conditions, as kubectl prints them. */
const ends = (conditions: string) => `case "$*" in *"get job"*) echo '${conditions}' ;; esac`;
const applied = (calls: string[]) => calls.filter((line) => line.startsWith('apply'));

const CONFIGURATION = 'apply -k some/overlay -l !app.kubernetes.io/name';
const of = (name: string) => `apply -k some/overlay -l app.kubernetes.io/name=${name}`;
const WHOLE = 'apply -k some/overlay';

test('when the new version becomes ready, then configuration, indexes and services are applied in order, and the script waits for each', async () => {
  const { code, calls } = await rollOut(ends('SuccessCriteriaMet Complete'), 'some/overlay');

  expect(code).toBe(0);
  expect(applied(calls)).toEqual([
    CONFIGURATION,
    of('migrate'),
    ...['webhooks', 'mail', 'renderer', 'scheduler', 'operations', 'portal', 'gateway'].map(of),
    WHOLE,
  ]);
  for (const name of ['webhooks', 'mail', 'renderer', 'scheduler', 'operations', 'portal', 'gateway']) {
    expect(calls[calls.indexOf(of(name)) + 1]).toBe(`-n billhook rollout status deployment/${name}`);
  }
});

test('when jobs of an earlier run still exist, then it creates one with another name and touches none of them', async () => {
  const { calls } = await rollOut(ends('Complete'), 'some/overlay');

  const aboutJobs = calls.filter((line) => /\bjobs?\b/.test(line));
  expect(aboutJobs).toEqual([
    expect.stringMatching(/^-n billhook create job migrate-\d{8}-\d{6} --from=cronjob\/migrate$/),
    expect.stringMatching(/^-n billhook get job migrate-\d{8}-\d{6} -o /),
  ]);
  expect(calls.filter((line) => line.includes('delete') || line.includes('prepare'))).toEqual([]);
});

test('when the indexes cannot be created, then it says so at once and no service is touched', async () => {
  const { code, stderr, calls } = await rollOut(ends('FailureTarget Failed'), 'some/overlay');

  expect([code, stderr]).toEqual([1, expect.stringMatching(/^migrate-\d{8}-\d{6} failed/)]);
  expect(applied(calls)).toEqual([CONFIGURATION, of('migrate')]);
  expect(calls.at(-1)).toMatch(/^-n billhook logs job\/migrate-\d{8}-\d{6} --tail=20$/);
});

test('when a service does not become ready, then the next one stays as it is', async () => {
  const fake = `${ends('Complete')}\ncase "$*" in *"rollout status deployment/renderer") exit 1 ;; esac`;

  const { code, calls } = await rollOut(fake, 'some/overlay');

  expect(code).toBe(1);
  expect(applied(calls).at(-1)).toBe(of('renderer'));
});

test('when it rolls back, then it applies the services in reverse and no indexes', async () => {
  const { code, calls } = await rollOut('', '--back', 'some/overlay');

  expect(code).toBe(0);
  expect(applied(calls)).toEqual([
    CONFIGURATION,
    ...['gateway', 'portal', 'operations', 'scheduler', 'renderer', 'mail', 'webhooks'].map(of),
    WHOLE,
  ]);
  expect(calls.filter((line) => line.includes('job'))).toEqual([]);
});

test('when no overlay is named, then nothing is done', async () => {
  expect(await rollOut('', '--back')).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage'), calls: [''] });
});
