// The Grafana dashboard and the alert rules: complete, and a service exports every metric they name.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FORMER_NAMES } from '#libs/service/metrics.ts';
import { familiesOf, type MetricFamily, namingProblems } from '../../support/metric-names.ts';
import { type SpawnedService, spawnService } from '../../support/spawn-service.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

interface Panel {
  id: number;
  type: string;
  title: string;
  datasource?: { type: string; uid: string };
  targets?: { expr: string; datasource: { uid: string } }[];
  fieldConfig?: { defaults: { unit?: string } };
}

const dashboard = JSON.parse(readFileSync('deploy/grafana/billhook.json', 'utf8')) as {
  id: null;
  uid: string;
  panels: Panel[];
  templating: { list: { name: string; query: string | { query: string } }[] };
};
const rules = readFileSync('deploy/grafana/alerts.yml', 'utf8');
/** Grafana's own notation for the variable of that name. */
const CHOSEN = '$' + '{datasource}';
const drawn = dashboard.panels.filter(({ type }) => type !== 'row');

/** Names of metrics in PromQL: what is followed by a selector, a range or the end, and is no function, label or keyword. */
function metricsIn(expression: string): string[] {
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"|\bby \([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?!\s*\()/g)].map(([name]) => name);
}

const queries = drawn.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr));
const alerts = [...rules.matchAll(/expr: (?:\|\n((?: {10,}.*\n)+)|(.+))/g)].map(
  ([, block, line]) => block ?? line ?? '',
);
const variables = dashboard.templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));
const named = [
  ...new Set(
    [...queries, ...alerts, ...variables.map((query) => query.replace(/label_values\((\w+),.*/, '$1'))].flatMap(
      metricsIn,
    ),
  ),
];

describe('names', () => {
  let workspace: Workspace;
  const services: SpawnedService[] = [];
  let existing: Set<string>;
  let samples: string[];
  let families: MetricFamily[];
  beforeAll(async () => {
    workspace = await openWorkspace();
    for (const service of ['gateway', 'mail', 'operations', 'portal', 'renderer', 'scheduler', 'webhooks'] as const) {
      services.push(await spawnService(service, workspace));
    }
    const texts = await Promise.all(
      services.map(async ({ healthUrl }) => (await fetch(`${healthUrl}/metrics`)).text()),
    );
    families = texts.flatMap(familiesOf);
    samples = texts.flatMap((text) => text.split('\n'));
    existing = new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
          type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
        ),
      ),
    );
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await workspace.close();
  });

  test('when the dashboard or an alert names a metric, then some service has it', () => {
    expect(named.length).toBeGreaterThan(12);
    expect(named).toEqual(
      expect.arrayContaining([
        'billhook_queue_jobs_ready',
        'billhook_outbox_lag_seconds',
        'billhook_scheduler_lag_seconds',
      ]),
    );
    expect(named.filter((name) => !existing.has(name))).toEqual([]);
  });

  test('when the services register metrics, then their names keep the conventions of Prometheus', () => {
    // The library names those of the process.
    const former = new Set<string>(Object.values(FORMER_NAMES));
    const ours = families.filter(({ name }) => !/^(nodejs|process)_/.test(name) && !former.has(name));

    expect(ours.length).toBeGreaterThan(25);
    expect([...new Set(ours.flatMap(namingProblems))]).toEqual([]);
  });

  test('when a metric has a new name, then the former one is reported beside it and nothing of ours uses it', () => {
    const registered = new Set(families.map(({ name }) => name));
    const former: string[] = Object.values(FORMER_NAMES);
    const files = [
      rules,
      JSON.stringify(dashboard),
      readFileSync('deploy/kubernetes/components/keda/scaled-objects.yaml', 'utf8'),
    ];

    expect([...Object.keys(FORMER_NAMES), ...former].filter((name) => !registered.has(name))).toEqual([]);
    expect(former.filter((name) => files.some((text) => new RegExp(`\\b${name}`).test(text)))).toEqual([]);
  });

  // A series that begins at 1 has no increase, and one that is absent makes an empty panel.
  test.each([
    'billhook_render_seconds_count{outcome="failed"} 0',
    'billhook_render_seconds_count{outcome="expired"} 0',
    'billhook_browser_recycles_total{reason="gone"} 0',
    'billhook_deliveries_total{outcome="delivered"} 0',
    'billhook_deliveries_total{outcome="timeout"} 0',
  ])('when nothing has happened yet, then there is %s', (sample) => {
    expect(samples).toContain(sample);
  });
});

describe('dashboard', () => {
  test('when it is provisioned, then its id is free and its uid is fixed', () => {
    expect([dashboard.id, dashboard.uid]).toEqual([null, 'billhook-overview']);
  });

  test('when it is drawn, then every panel has an id of its own, a unit, and the chosen data source', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const panel of drawn) {
      expect([panel.title, panel.datasource?.uid]).toEqual([panel.title, CHOSEN]);
      expect([panel.title, panel.targets?.every(({ datasource }) => datasource.uid === CHOSEN)]).toEqual([
        panel.title,
        true,
      ]);
      expect([panel.title, typeof panel.fieldConfig?.defaults.unit]).toEqual([panel.title, 'string']);
    }
  });

  test('when a rate is drawn, then its window follows the zoom', () => {
    const fixed = queries.filter((query) => /rate\(/.test(query) && !query.includes('$__rate_interval'));
    expect(fixed).toEqual([]);
  });
});

test('when an alert fires, then it says how bad it is, what it is and what to do', () => {
  const parts = rules.split(/^ {6}- alert: /m).slice(1);
  expect(parts.length).toBe(alerts.length);
  for (const part of parts) {
    expect(part).toMatch(/^Billhook\w+\n {8}expr: /);
    expect(part).toMatch(/severity: (page|ticket)/);
    expect(part).toMatch(/summary: \S/);
    expect(part).toMatch(/description: \S/);
  }
});
