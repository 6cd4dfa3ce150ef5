// The rule for names of metrics finds each fault, and what the guide says about former names is what is reported.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { FORMER_NAMES } from '#libs/service/metrics.ts';
import { familiesOf, namingProblems } from '../../support/metric-names.ts';

test.each([
  ['http_request_duration_seconds', 'histogram', 'must begin with billhook_'],
  ['billhook_browser_memory_megabytes', 'gauge', 'base units'],
  ['billhook_render_ms', 'histogram', 'base units'],
  ['billhook_seconds_waited', 'gauge', 'must come last'],
  ['billhook_render_warnings', 'counter', 'must end with _total'],
  ['billhook_handles_total', 'gauge', 'only a counter'],
  ['billhook_render', 'histogram', 'needs a unit'],
  ['billhook_queue_gauge', 'gauge', 'its type'],
  ['billhook_jobs_count', 'gauge', 'like a series'],
  ['billhook_build_info', 'counter', 'must be a gauge'],
])('when %s is a %s, then the rule says that it %s', (name, type, problem) => {
  expect(namingProblems({ name, type, help: 'Some text' }).join()).toContain(problem);
});

test('when a metric has no help text, then the rule says so', () => {
  const [family] = familiesOf('# HELP billhook_queue_paused \n# TYPE billhook_queue_paused gauge\n');
  expect(family && namingProblems(family)).toEqual(['billhook_queue_paused: needs a help text']);
});

test('when the guide lists former names, then it lists each with its new one', () => {
  const guide = readFileSync('docs/operate.md', 'utf8');
  const rows = [...guide.matchAll(/^\| `(\w+)` \| `(billhook_\w+)` \|/gm)].map(([, former, name]) => [name, former]);
  expect(Object.fromEntries(rows)).toEqual(FORMER_NAMES);
});
