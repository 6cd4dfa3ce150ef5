// Checks a service and its dependencies through its health port.
import type { Finding } from './check-result.ts';

const LIMIT_MS = 5_000;

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
