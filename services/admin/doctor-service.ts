// Checks a service and its dependencies through its health port, and the versions of all services that are connected to Redis.
import type { Queues } from '#libs/jobs/queue.ts';
import { byVersion, readProcesses, versionsText } from '#libs/redis/processes.ts';
import { type Finding, finding } from './check-result.ts';

const LIMIT_MS = 5_000;

/** Examines whether all processes run one version. */
export async function examineVersions({ redis, prefix }: Pick<Queues, 'redis' | 'prefix'>): Promise<Finding[]> {
  const processes = await readProcesses(redis, prefix);
  const found = processes.length > 0 ? versionsText(processes) : 'no service is connected';
  const advice = 'Finish the rollout: replace the processes of the other version';
  return [finding('Versions', found, byVersion(processes).length < 2, advice, 'warning')];
}

interface Readiness {
  service?: string;
  status?: string;
  checks?: Record<string, { status: string; required: boolean; tookMs: number; problem?: string }>;
}

/** Examines a service. @param url of the health port: `http://host:port`. */
export async function examineService(url: string): Promise<Finding[]> {
  try {
    const response = await fetch(new URL('/readyz?verbose', url), { signal: AbortSignal.timeout(LIMIT_MS) });
    return findingsOf(url, (await response.json()) as Readiness);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const advice = 'Check that the service runs and that this is its health port';
    return [{ status: 'problem', check: `Service at ${url}`, found: String(cause), advice }];
  }
}

function findingsOf(url: string, { service = 'unknown', status = 'unknown', checks = {} }: Readiness): Finding[] {
  const problems = Object.entries(checks).filter(([, check]) => check.status !== 'ok');
  return [
    {
      check: `Service ${service}`,
      found: `${status}, at ${url}`,
      ...(status === 'ready'
        ? { status: 'ok' }
        : { status: 'problem', advice: 'Its log says why; the failed checks follow' }),
    },
    ...problems.map(
      ([name, { required, problem = 'failed' }]): Finding => ({
        status: required ? 'problem' : 'warning',
        check: `Service ${service}: ${name}`,
        found: problem,
        advice: ADVICE[name] ?? 'Check that it runs and that the service can reach it',
      }),
    ),
  ];
}

const ADVICE: Record<string, string> = {
  sandbox:
    'Run the renderer as an ordinary user on a kernel with user namespaces, or in a container with a seccomp profile that allows them',
};
