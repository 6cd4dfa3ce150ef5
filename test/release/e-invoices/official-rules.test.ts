// E-invoices of every case in every format, judged by the official rules. Without Java, Maven or Maven Central nothing is judged, and the title says so.
import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { compiledCode } from '../../../deploy/local/service-env.ts';

const CANNOT_RUN = 2;
const run = spawnSync('node', ['test/e-invoices/main.ts', '--sample'], {
  encoding: 'utf8',
  env: { ...process.env, ...compiledCode(process.env) },
});
const isJudged = run.status !== CANNOT_RUN;

(isJudged ? test : test.skip)(
  isJudged
    ? 'when every case is written in every format, then the official rules judge it as we do'
    : `not judged: ${run.stderr.trim().split('\n').at(-1)}`,
  () => {
    expect([run.stdout.trim().split('\n').at(-1), run.status]).toEqual([
      expect.stringMatching(/ 0 judged otherwise$/),
      0,
    ]);
  },
);
