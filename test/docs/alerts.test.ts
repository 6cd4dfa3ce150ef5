// The alert rules: the same on Kubernetes as under compose, and each explained to whoever it wakes.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ALERTS, alertsManifest, RULES } from './alerts-manifest.ts';

test('when a rule changes, then it changes on Kubernetes too, or "npm run docs" was forgotten', () => {
  expect(readFileSync(ALERTS, 'utf8')).toBe(alertsManifest());
});

test('when an alert wakes somebody, then the guide says what it means', () => {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const guide = readFileSync('docs/operate.md', 'utf8');
  expect(alerts.length).toBeGreaterThan(5);
  expect(alerts.filter((alert) => !guide.includes(`| \`${alert}\` |`))).toEqual([]);
});
