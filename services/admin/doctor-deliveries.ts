// Reports the deliveries that do not reach their receivers: failing and disabled endpoints, and deliveries that wait.
import {
  type DeliveryProblems,
  type FailingEndpoint,
  readDeliveryProblems,
  type SuspendedEndpoint,
} from '#libs/models/webhooks/delivery-problems.ts';
import { type Finding, finding } from './check-result.ts';

const MINUTE_MS = 60_000;

export async function examineDeliveries(): Promise<Finding[]> {
  const { failing, suspended, old, overdue } = await readDeliveryProblems();
  return [failingFinding(failing), suspendedFinding(suspended), ...waitingFindings(old, overdue)];
}

function failingFinding({ count, named }: DeliveryProblems['failing']): Finding {
  const found = count === 0 ? 'none' : `${count} endpoint(s): ${listed(count, named.map(failure))}`;
  const advice =
    'Look at the answers with "admin webhooks deliveries ENDPOINT-ID", and tell the account that its receiver fails. ' +
    'If many fail together, check the way out of the webhook service (DNS, proxy, firewall)';
  const isSerious = named.some((endpoint) => endpoint.isSerious);
  return finding('Failing endpoints', found, count === 0, advice, isSerious ? 'problem' : 'warning');
}

function failure(endpoint: FailingEndpoint): string {
  const { failures, failingMs, waiting, isCircuitOpen } = endpoint;
  const circuit = isCircuitOpen ? ', circuit breaker open' : '';
  return `${nameOf(endpoint)}: ${failures} failures in a row for ${minutes(failingMs)}, ${waiting} deliveries wait${circuit}`;
}

function suspendedFinding({ count, named }: DeliveryProblems['suspended']): Finding {
  const found = count === 0 ? 'none' : `${count} endpoint(s): ${listed(count, named.map(suspension))}`;
  const advice =
    'Ask the account to enable the endpoint (PATCH /webhooks/{id}), which resumes its deliveries, or to delete it. ' +
    'Operators enable it on its page of the dashboard';
  const isAnyLost = named.some(({ isIntended }) => !isIntended);
  return finding('Suspended deliveries', found, count === 0, advice, isAnyLost ? 'problem' : 'warning');
}

function suspension(endpoint: SuspendedEndpoint): string {
  return `${nameOf(endpoint)}: disabled (${endpoint.reason}), ${endpoint.waiting} deliveries suspended`;
}

function waitingFindings(old: DeliveryProblems['old'], overdue: DeliveryProblems['overdue']): Finding[] {
  return [
    finding(
      'Due deliveries',
      overdue.count === 0 ? 'none waits' : `${overdue.count}, the oldest for ${minutes(overdue.oldestMs)}`,
      overdue.count === 0,
      'Check that the webhook service runs and reaches MongoDB and Redis: it takes due deliveries within seconds',
    ),
    finding(
      'Pending deliveries',
      old.count === 0
        ? 'none is older than an hour'
        : `${old.count} for over an hour, the oldest ${minutes(old.oldestMs)}`,
      old.count === 0,
      'They are tried again by themselves. Look at the failing endpoints, and for a paused queue with "admin queues list"',
      'warning',
    ),
  ];
}

/** Returns the name that finds an endpoint. The whole URL may contain a token, so only its host is shown. */
function nameOf({ id, url, accountName }: { id: string; url: string; accountName: string }): string {
  return `${new URL(url).host} of ${accountName} (${id})`;
}

function listed(count: number, named: string[]): string {
  return named.join('; ') + (count > named.length ? '; and more' : '');
}

function minutes(ms: number): string {
  return `${Math.round(ms / MINUTE_MS)} min`;
}
