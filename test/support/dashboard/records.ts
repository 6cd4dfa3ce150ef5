// Records as they are after some hours of work: what an operator looks for and acts on.

import { Render, type RenderStatus } from '#libs/models/documents/render-record.ts';
import { recordSamples } from '#libs/models/operations/queue-sample.ts';
import { openRequestCounter } from '#libs/models/operations/request-figures.ts';
import { type Id, newId } from '#libs/models/tenant.ts';
import { Delivery, type ResponseHeader } from '#libs/models/webhooks/delivery.ts';
import { type DisabledReason, WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';

const MINUTE_MS = 60_000;

export interface EndpointFields {
  url?: string;
  enabled?: boolean;
  reason?: DisabledReason;
  failures?: number;
  failingMinutes?: number;
  /** The status of the last failure. */
  lastStatus?: number;
}

export async function addEndpoint(accountId: Id, fields: EndpointFields = {}): Promise<Id> {
  const id = newId();
  const slot = Math.floor(Math.random() * 1e9);
  const {
    url = 'https://hooks.example.com/billing',
    enabled = true,
    reason,
    failures,
    failingMinutes = 1,
    lastStatus,
  } = fields;
  await WebhookEndpoint.create({
    _id: id,
    account_id: accountId,
    slot,
    url,
    events: ['*'],
    enabled,
    secret: 'sealed',
    ...(reason ? { disabled_reason: reason } : {}),
    ...(lastStatus ? { last_failure: { at: new Date(), error_class: 'status', response_status: lastStatus } } : {}),
    ...(failures ? { failures, failing_since: new Date(Date.now() - failingMinutes * MINUTE_MS) } : {}),
  });
  return id;
}

export interface DeliveryFields {
  accountId: Id;
  endpointId: Id;
  status?: 'pending' | 'delivered' | 'dead' | 'held';
  eventType?: string;
  minutesAgo?: number;
  /** How long it has been due. A delivery that waits for a later attempt has a negative number. */
  dueMinutesAgo?: number;
  /** The time at which the poller looks at it again, after it enqueued it. */
  lookAgainAt?: Date;
  leaseUntil?: Date;
  deferrals?: number;
  /** The last attempt. Absent when none was made. */
  last?: { errorClass?: string; responseStatus?: number; head?: ResponseHeader[] };
}

export async function addDelivery(fields: DeliveryFields): Promise<Id> {
  const { accountId, endpointId, status = 'dead', eventType = 'invoice.paid', minutesAgo = 5, last } = fields;
  const { dueMinutesAgo, lookAgainAt, leaseUntil, deferrals = 0 } = fields;
  const at = new Date(Date.now() - minutesAgo * MINUTE_MS);
  const id = newId();
  const nextAt = dueMinutesAgo === undefined ? undefined : new Date(Date.now() - dueMinutesAgo * MINUTE_MS);
  const settled = status === 'delivered' || status === 'dead' ? { settled_at: at } : {};
  const attempt = {
    at,
    duration_ms: 120,
    ...(last?.responseStatus ? { response_status: last.responseStatus } : {}),
    ...(last?.errorClass ? { error_class: last.errorClass } : {}),
    ...(last?.head ? { response_headers: last.head } : {}),
  };
  await Delivery.create({
    _id: id,
    account_id: accountId,
    event_id: newId(),
    endpoint_id: endpointId,
    event_type: eventType,
    status,
    attempts: last ? [attempt] : [],
    attempts_made: last ? 1 : 0,
    deferrals,
    ...(nextAt ? { next_at: nextAt, due_at: lookAgainAt ?? nextAt } : {}),
    ...(leaseUntil ? { lease_id: newId(), lease_until: leaseUntil } : {}),
    created_at: at,
    updated_at: at,
    ...settled,
  });
  return id;
}

export async function addRender(fields: {
  accountId: Id;
  status?: RenderStatus;
  durationMs?: number;
  errorClass?: string;
  requestId?: string;
  minutesAgo?: number;
}): Promise<void> {
  const { accountId, status = 'done', durationMs = 80, errorClass, requestId = newId(), minutesAgo = 1.5 } = fields;
  await Render.create({
    account_id: accountId,
    request_id: requestId,
    status,
    duration_ms: durationMs,
    title: 'Invoice',
    ...(status === 'done' ? { size_bytes: 48_000 } : {}),
    ...(errorClass ? { error_class: errorClass } : {}),
    created_at: new Date(Date.now() - minutesAgo * MINUTE_MS),
  });
}

/** An hour of a queue that was busy in the middle. */
export async function addSamples(queue: string): Promise<void> {
  const minutes = Array.from({ length: 60 }, (_, index) => 60 - index);
  const record = async (minute: number) => {
    const ready = Math.max(0, Math.round(20 - Math.abs(minute - 30) + Math.sin(minute) * 4));
    const sample = { queue, ready, active: ready > 0 ? 2 : 0, ageMs: ready * 150 };
    await recordSamples([sample], new Date(Date.now() - minute * MINUTE_MS));
  };
  await Promise.all(minutes.map(record));
}

/** An hour of requests, with a few that were refused and failed. */
export async function addRequests(): Promise<void> {
  const counter = openRequestCounter();
  for (let minute = 60; minute >= 1; minute -= 1) {
    const now = Date.now() - minute * MINUTE_MS;
    const many = Math.round(40 + 25 * Math.sin(minute / 7));
    const ok = { status: 200, isAnswered: true } as const;
    for (let each = 0; each < many; each += 1) {
      counter.count({ ...ok, operation: 'listInvoices', ms: 6 + each }, now);
      counter.count({ ...ok, operation: 'getClient', ms: 2 + each / 10 }, now);
    }
    counter.count({ ...ok, operation: 'generatePdf', ms: 140 + minute * 8 }, now);
    if (minute % 5 === 0)
      counter.count({ operation: 'listInvoices', status: 429, isAnswered: true, code: 'rate_limited', ms: 1 }, now);
    if (minute % 19 === 0)
      counter.count(
        { operation: 'generatePdf', status: 504, isAnswered: true, code: 'document_late', ms: 30_000 },
        now,
      );
    if (minute % 23 === 0) counter.count({ operation: 'generatePdf', status: 200, isAnswered: false, ms: 9_000 }, now);
  }
  await counter.flush();
}
