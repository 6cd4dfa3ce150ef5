// The deliveries that do not reach their receivers: failing endpoints, suspended deliveries, and deliveries that wait
// for long. Every query stops at a fixed number, however many endpoints and deliveries there are.
import { agreedDate } from '../../clock.ts';
import { Account } from '../accounts/account.ts';
import { findDueSoon, type Overdue, overdueAt, overdueOf } from '../overdue.ts';
import { acrossAccounts, type Id, type StoredId } from '../tenant.ts';
import { Delivery, SUSPENDED } from './delivery.ts';
import { FAILING, WebhookEndpoint, type WebhookEndpointRecord } from './webhook-endpoint.ts';

/** The number of endpoints at which counting stops. */
export const ENDPOINTS_COUNTED_MAX = 100;
/** The number of deliveries at which counting stops. */
export const DELIVERIES_COUNTED_MAX = 1_000;
/** The number of endpoints that are named. */
const NAMED_MAX = 5;
/** A failing endpoint is serious from this number of failures in a row on, or after this time. */
const SERIOUS_FAILURES = 10;
const SERIOUS_MS = 3_600_000;
/** A delivery that is pending for longer counts as old. */
const OLD_MS = 3_600_000;
/** The number of pending deliveries of an endpoint that are read to see if its circuit breaker defers them. */
const DEFERRED_SAMPLE = 20;

interface NamedEndpoint {
  id: Id;
  url: string;
  accountId: Id;
  accountName: string;
  /** The number of its deliveries that wait, counted up to DELIVERIES_COUNTED_MAX. */
  waiting: number;
}

export interface FailingEndpoint extends NamedEndpoint {
  failures: number;
  failingMs: number;
  isSerious: boolean;
  /** True when a circuit breaker has deferred deliveries without an attempt. */
  isCircuitOpen: boolean;
}

export interface SuspendedEndpoint extends NamedEndpoint {
  reason: string;
  /** True when the account or an operator disabled it. */
  isIntended: boolean;
}

/** Endpoints: how many, counted up to ENDPOINTS_COUNTED_MAX, and the first ones with their names. */
interface Endpoints<Named> {
  count: number;
  named: Named[];
}

/** Deliveries: how many, counted up to DELIVERIES_COUNTED_MAX, and the age of the oldest. 0 when there is none. */
interface WaitingDeliveries {
  count: number;
  oldestMs: number;
}

export interface DeliveryProblems {
  /** Enabled endpoints with at least three failures in a row, those with most failures first. */
  failing: Endpoints<FailingEndpoint>;
  /** Disabled endpoints with suspended deliveries. */
  suspended: Endpoints<SuspendedEndpoint>;
  /** Pending deliveries that are older than an hour. */
  old: WaitingDeliveries;
  /** Pending deliveries that are due for over five minutes and that no webhook service has taken. */
  overdue: Overdue;
}

/** Reads the problems of deliveries over all accounts. */
export async function readDeliveryProblems(now: Date = agreedDate()): Promise<DeliveryProblems> {
  const [failing, suspended, old, overdue] = await Promise.all([
    readFailing(now),
    readSuspended(),
    readOld(now),
    readOverdue(now),
  ]);
  return { failing, suspended, old, overdue };
}

type Candidate = Pick<
  WebhookEndpointRecord,
  '_id' | 'account_id' | 'url' | 'failures' | 'failing_since' | 'disabled_reason'
>;

async function readFailing(now: Date): Promise<Endpoints<FailingEndpoint>> {
  const [count, first] = await Promise.all([
    WebhookEndpoint.countDocuments(FAILING, { limit: ENDPOINTS_COUNTED_MAX }).setOptions(acrossAccounts),
    WebhookEndpoint.find(FAILING)
      .setOptions(acrossAccounts)
      .sort({ enabled: 1, failures: -1 })
      .limit(NAMED_MAX)
      .lean<Candidate[]>(),
  ]);
  const named = (await withNames(first, 'pending')).map(async ({ endpoint, ...rest }) => {
    const failures = endpoint.failures ?? 0;
    const failingMs = endpoint.failing_since ? now.getTime() - endpoint.failing_since.getTime() : 0;
    const isSerious = failures >= SERIOUS_FAILURES || failingMs >= SERIOUS_MS;
    return { ...rest, failures, failingMs, isSerious, isCircuitOpen: await isDeferred(endpoint) };
  });
  return { count, named: await Promise.all(named) };
}

async function readSuspended(): Promise<Endpoints<SuspendedEndpoint>> {
  // The index has the deliveries by endpoint, so that the database jumps from one endpoint to the next.
  const groups = await Delivery.aggregate<{ _id: StoredId }>([
    { $match: { status: 'held' } },
    { $sort: { status: 1, endpoint_id: 1 } },
    { $group: { _id: '$endpoint_id' } },
    { $limit: ENDPOINTS_COUNTED_MAX },
  ]).option({ ...acrossAccounts, hint: SUSPENDED } as object);
  // The deliveries of an endpoint that was enabled are resumed shortly.
  const disabled = await WebhookEndpoint.find({ _id: { $in: groups.map(({ _id }) => _id) }, enabled: false })
    .setOptions(acrossAccounts)
    .lean<Candidate[]>();
  const named = await withNames(disabled.slice(0, NAMED_MAX), 'held');
  return {
    count: disabled.length,
    named: named.map(({ endpoint, ...rest }) => {
      const reason = endpoint.disabled_reason ?? 'manual';
      return { ...rest, reason, isIntended: reason === 'manual' || reason === 'operator' };
    }),
  };
}

/** Adds the names of the accounts, and the numbers of deliveries with this status. */
async function withNames(endpoints: Candidate[], status: 'pending' | 'held') {
  const accounts = await Account.find({ _id: { $in: endpoints.map(({ account_id }) => account_id) } })
    .select({ name: 1 })
    .lean<{ _id: StoredId; name: string }[]>();
  const names = new Map(accounts.map(({ _id, name }) => [String(_id), name]));
  return Promise.all(
    endpoints.map(async (endpoint) => ({
      endpoint,
      id: String(endpoint._id),
      url: endpoint.url,
      accountId: String(endpoint.account_id),
      accountName: names.get(String(endpoint.account_id)) ?? String(endpoint.account_id),
      waiting: await Delivery.countDocuments(deliveriesOf(endpoint, status), { limit: DELIVERIES_COUNTED_MAX }),
    })),
  );
}

async function isDeferred(endpoint: Candidate): Promise<boolean> {
  const pending = await Delivery.find(deliveriesOf(endpoint, 'pending'))
    .sort({ created_at: -1, _id: -1 })
    .limit(DEFERRED_SAMPLE)
    .select({ deferrals: 1 })
    .lean<{ deferrals?: number }[]>();
  return pending.some(({ deferrals = 0 }) => deferrals > 0);
}

function deliveriesOf({ _id, account_id }: Candidate, status: 'pending' | 'held') {
  return { account_id, endpoint_id: _id, status };
}

async function readOld(now: Date): Promise<WaitingDeliveries> {
  const filter = { status: 'pending' as const, created_at: { $lt: new Date(now.getTime() - OLD_MS) } };
  const [count, oldest] = await Promise.all([
    Delivery.countDocuments(filter, { limit: DELIVERIES_COUNTED_MAX }).setOptions(acrossAccounts),
    Delivery.findOne(filter)
      .setOptions(acrossAccounts)
      .sort({ created_at: 1 })
      .select({ created_at: 1 })
      .lean<{ created_at: Date }>(),
  ]);
  return { count, oldestMs: oldest ? now.getTime() - oldest.created_at.getTime() : 0 };
}

/** Only pending deliveries are due. An open circuit breaker and a limit of the endpoint make them due later. */
async function readOverdue(now: Date): Promise<Overdue> {
  return overdueOf(await findDueSoon(Delivery, overdueAt({ now }), { now }), DELIVERIES_COUNTED_MAX, { now });
}
