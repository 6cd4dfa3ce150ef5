// The alert rules: the same on Kubernetes as under compose, and each explained in the guide.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ALERTS, alertsManifest, RULES } from './alerts-manifest.ts';

test('when a rule changes, then it changes on Kubernetes too, or "npm run docs" was forgotten', () => {
  expect(readFileSync(ALERTS, 'utf8')).toBe(alertsManifest());
});

test('when a Prometheus serves many applications, then rules and panels ask for ours alone', () => {
  const shared = /\b(?:http_request|process|nodejs)_\w+(?!\w|\{[^}]*job=)|\bup(?!\w|\{[^}]*job=)/g;
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { expr: string }[] }[] };
  const { panels } = JSON.parse(readFileSync('deploy/grafana/billhook.json', 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const expressions = [...groups.flatMap(({ rules }) => rules), ...panels.flatMap(({ targets = [] }) => targets)];
  expect(expressions.filter(({ expr }) => expr.match(shared)).map(({ expr }) => expr)).toEqual([]);

  const { spec } = parse(readFileSync(ALERTS, 'utf8')) as { spec: { groups: { rules: { expr: string }[] }[] } };
  const metric = /\b(?:up|(?:http|process|nodejs|billhook|bullmq)_\w+)(?!\w|\{namespace="billhook"[,}])/g;
  const open = spec.groups.flatMap(({ rules }) => rules).filter(({ expr }) => expr.match(metric));
  expect(open.map(({ expr }) => expr)).toEqual([]);
});

test('when there is an alert, then the guide explains it', () => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const guide = readFileSync('docs/operate.md', 'utf8');
  expect(alerts.length).toBeGreaterThan(5);
  expect(alerts.filter((alert) => !guide.includes(`| \`${alert}\` |`))).toEqual([]);
});
