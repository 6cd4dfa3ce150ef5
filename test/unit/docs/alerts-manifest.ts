// The alert rules as the Prometheus operator wants them: the same rules, wrapped into a resource, for our namespace alone.
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

export const RULES = 'deploy/grafana/alerts.yml';
export const ALERTS = 'deploy/kubernetes/components/monitoring/alerts.yaml';

/** Metrics in expressions: those of our processes and Prometheus's own `up`. */
const METRIC = /\b(?:up|(?:billhook|nodejs|process)_\w+)\b(?:\{([^}]*)\})?/g;

/** A cluster's Prometheus has other applications' metrics, too, and services of our names in other namespaces. */
function ofOurNamespace<Rule extends { expr: string }>(rule: Rule): Rule {
  const expr = rule.expr.replaceAll(METRIC, (text, labels?: string) => {
    const [name = ''] = text.split('{');
    return `${name}{namespace="billhook"${labels ? `,${labels}` : ''}}`;
  });
  return { ...rule, expr };
}

export function alertsManifest(): string {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { expr: string }[] }[] };
  const resource = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'billhook' },
    spec: { groups: groups.map(({ rules, ...group }) => ({ ...group, rules: rules.map(ofOurNamespace) })) },
  };
  return `# Made by "npm run docs" from ${RULES}; a test compares them. Do not edit by hand.\n${stringify(resource, { lineWidth: 0 })}`;
}
