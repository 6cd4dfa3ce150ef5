// Every expression of the Grafana dashboard and of the alert rules, asked of a Prometheus that scrapes the running system.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Query {
  /** Panel or alert, for people. */
  title: string;
  expression: string;
}

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[];
}
interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}

/** @param window what Grafana puts in place of its variable for the window of a rate, such as `30s`. */
export function panelQueries(window: string): Query[] {
  const { panels } = JSON.parse(readFileSync('deploy/grafana/billhook.json', 'utf8')) as Dashboard;
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      title,
      expression: expr.replaceAll('$__rate_interval', window).replaceAll('$queue', '.*'),
    })),
  );
}

export function alertQueries(): Query[] {
  const { groups } = parse(readFileSync('deploy/grafana/alerts.yml', 'utf8')) as Rules;
  return groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ title: alert, expression: expr })));
}

interface Answer {
  status: string;
  error?: string;
  data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
}

/** @returns the values Prometheus has now; NaN is no value. @throws when it does not understand the expression. */
export async function ask(prometheus: string, expression: string): Promise<number[]> {
  const url = new URL('/api/v1/query', prometheus);
  url.searchParams.set('query', expression);
  const answer = (await (await fetch(url)).json()) as Answer;
  if (answer.status !== 'success') throw new Error(`${answer.error}: ${expression}`);
  return (answer.data?.result ?? []).map(({ value }) => Number(value[1])).filter((value) => !Number.isNaN(value));
}

/** @returns the targets that were scraped, and what was wrong with those that were not. */
export async function targets(prometheus: string): Promise<{ job: string; health: string; lastError: string }[]> {
  const answer = (await (await fetch(new URL('/api/v1/targets', prometheus))).json()) as {
    data: { activeTargets: { labels: { job: string }; health: string; lastError: string }[] };
  };
  return answer.data.activeTargets.map(({ labels, health, lastError }) => ({ job: labels.job, health, lastError }));
}
