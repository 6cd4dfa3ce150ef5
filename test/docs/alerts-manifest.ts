// The alert rules as the Prometheus operator wants them: the same rules, wrapped into a resource.
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

export const RULES = 'deploy/grafana/alerts.yml';
export const ALERTS = 'deploy/kubernetes/components/monitoring/alerts.yaml';

export function alertsManifest(): string {
  const resource = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'billhook' },
    spec: parse(readFileSync(RULES, 'utf8')),
  };
  return `# Made by "npm run docs" from ${RULES}; a test compares them. Do not edit by hand.\n${stringify(resource, { lineWidth: 0 })}`;
}
