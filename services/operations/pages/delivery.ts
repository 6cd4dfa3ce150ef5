// The page of one delivery with its attempts, and the button that replays it.
import { audited } from '#libs/models/operations/audit-entry.ts';
import { acrossAccounts, isId } from '#libs/models/tenant.ts';
import { type Attempt, Delivery, type DeliveryRecord } from '#libs/models/webhooks/delivery.ts';
import { replayDelivery } from '#libs/models/webhooks/replay-deliveries.ts';
import { actorOf, type Done, type Visit } from '../session/visit.ts';
import { DashboardError } from '../views/dashboard-error.ts';
import { ago, count, duration, moment } from '../views/format.ts';
import { html } from '../views/html.ts';
import type { Page } from '../views/layout.ts';
import { badge, idLine, stat, table } from '../views/parts.ts';
import { deliveryBadge, replayButton } from './deliveries.ts';

export async function deliveryPage({ request, visitor }: Visit): Promise<Page> {
  const delivery = await requireDelivery(request.params['id']);
  const attempts = delivery.attempts.toReversed();
  const columns = [
    { name: 'At (UTC)', cell: ({ at }: Attempt) => moment(at) },
    {
      name: 'Outcome',
      cell: (attempt: Attempt) =>
        attempt.error_class ? badge(attempt.error_class, 'bad') : badge('delivered', 'good'),
    },
    { name: 'Status', isNumber: true, cell: (attempt: Attempt) => attempt.response_status ?? '–' },
    {
      name: 'Took',
      isNumber: true,
      cell: (attempt: Attempt) => (attempt.duration_ms == null ? '–' : duration(attempt.duration_ms)),
    },
  ];
  const body = html`<div>
    <div class="card">
      <dl class="stats wide">
        ${stat('State', deliveryBadge(delivery))} ${stat('Event', html`<code>${delivery.event_type}</code>`)}
        ${stat('Created', ago(delivery.created_at))} ${stat('Next attempt', ago(delivery.next_at))}
        ${stat('Attempts of the schedule', count(delivery.attempts_made))}
      </dl>
      <dl class="ids">
        ${idLine('Delivery', delivery._id)} ${idLine('Event', delivery.event_id, `/deliveries?id=${String(delivery.event_id)}`)}
        ${idLine('Endpoint', delivery.endpoint_id, `/endpoints/${String(delivery.endpoint_id)}`)}
        ${idLine('Account', delivery.account_id, `/deliveries?id=${String(delivery.account_id)}`)}
        ${delivery.request_id ? idLine('Request', delivery.request_id) : null}
      </dl>
      ${visitor.role === 'operator' ? replayButton(delivery, visitor, 'Replay') : null}
    </div>
    <h2>Attempts</h2>
    ${table('Attempts, newest first', columns, attempts, 'No attempt yet.')}
  </div>`;
  return { title: 'Delivery', section: '/deliveries', body };
}

export async function replayOne({ request, visitor, nudge }: Visit): Promise<Done> {
  const delivery = await requireDelivery(request.params['id']);
  const id = String(delivery._id);
  const auditedAction = { ...actorOf(visitor), action: 'delivery.replay', target: id } as const;
  const { entryId } = await audited(auditedAction, async () => {
    const replayed = await replayDelivery(String(delivery.account_id), id);
    if (!replayed) throw new DashboardError(404, 'The delivery no longer exists');
    return { detail: `The delivery of ${delivery.event_type} is sent again.` };
  });
  nudge();
  return { to: `/deliveries/${id}`, entryId };
}

async function requireDelivery(id: unknown): Promise<DeliveryRecord> {
  // Operators see all accounts.
  const delivery = isId(id)
    ? await Delivery.findOne({ _id: id }).setOptions(acrossAccounts).lean<DeliveryRecord>()
    : null;
  if (!delivery) throw new DashboardError(404, 'No such delivery. It may be older than the retention of the log.');
  return delivery;
}
