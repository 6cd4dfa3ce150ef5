// Prometheus itself reads its configuration and the alert rules, and each alert fires where it must and is quiet where it must be.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { findPromtool } from '../../support/promtool.ts';

const execute = promisify(execFile);
const RULES = 'deploy/grafana/alerts.yml';
const TRIALS = 'test/system/operations/alerts.yml';

let folder: string;
let promtool: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-promtool-'));
  promtool = await findPromtool(process.env, folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const said = async (...args: string[]) => (await execute(promtool, args)).stdout;

test('when Prometheus reads the configuration of the compose file and the alert rules, then both are valid', async () => {
  expect(await said('check', 'config', '--syntax-only', 'deploy/docker/prometheus.yml')).toContain('SUCCESS');
  expect(await said('check', 'rules', RULES)).toContain('SUCCESS');
});

test('when series go wrong and right again, then each alert fires at its time, with its text, and not before', async () => {
  expect(await said('test', 'rules', TRIALS)).toContain('SUCCESS');
});

test('when the trials are read, then each alert fires in one of them and is quiet in another', () => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
  const { tests } = parse(readFileSync(TRIALS, 'utf8')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
  };
  const tried = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const isTried = (alert: string, isFiring: boolean) =>
    tried.some(({ alertname, exp_alerts }) => alertname === alert && exp_alerts.length > 0 === isFiring);

  expect(alerts.filter((alert) => !isTried(alert, true) || !isTried(alert, false))).toEqual([]);
});
