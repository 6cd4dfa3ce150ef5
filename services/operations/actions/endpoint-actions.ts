// The actions that enable, disable and ping an endpoint.
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';
import { type AuditAction, audited } from '#libs/models/operations/audit-entry.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { switchEndpoint } from '#libs/webhooks/change-endpoint.ts';
import { pingEndpoint } from '#libs/webhooks/ping-endpoint.ts';
import { reconcileChange } from '#libs/webhooks/reconcile-change.ts';
import { requireEndpoint } from '../pages/endpoint.ts';
import { actorOf, type Done, type Visit } from '../session/visit.ts';

const deletedMeanwhile = () =>
  new PageError(404, 'The endpoint no longer exists: its account has deleted it. Nothing was changed.');

export const enable = (visit: Visit) => switchTo(visit, true);

export const disable = (visit: Visit) => switchTo(visit, false);

async function switchTo(visit: Visit, enabled: boolean): Promise<Done> {
  return act(visit, enabled ? 'webhook.enable' : 'webhook.disable', async ({ id, accountId, host }) => {
    const { nudge, log } = visit;
    const { result, hasEvents } = await runUnitOfWork({ accountId, by: { type: 'operator' } }, (unit) =>
      switchEndpoint(unit, { id, missing: deletedMeanwhile }, enabled),
    );
    const state = enabled ? 'enabled' : 'disabled';
    if (!result) throw new PageError(409, `The endpoint is ${state} already; nothing was changed`);
    await reconcileChange(accountId, id, { nudge, log });
    if (hasEvents) nudge();
    const effect = enabled ? 'its suspended deliveries go out' : 'its deliveries are suspended';
    return { detail: `The endpoint at ${host} is ${state}; ${effect}.` };
  });
}

export async function ping(visit: Visit): Promise<Done> {
  return act(visit, 'webhook.ping', async ({ id, accountId, host }) => {
    await runUnitOfWork({ accountId, by: { type: 'operator' } }, (unit) =>
      pingEndpoint(unit, { id, missing: deletedMeanwhile }),
    );
    visit.nudge();
    return { detail: `A ping is sent to the endpoint at ${host}.` };
  });
}

interface Target {
  id: string;
  accountId: string;
  /** The host of its URL. The whole URL may contain a token, so it is not recorded. */
  host: string;
}

async function act(
  { request, visitor }: Visit,
  action: AuditAction,
  work: (target: Target) => Promise<{ detail: string }>,
): Promise<Done> {
  const { _id, account_id, url }: WebhookEndpointRecord = await requireEndpoint(request.params['id']);
  const id = String(_id);
  const { entryId } = await audited({ ...actorOf(visitor), action, target: id }, () =>
    work({ id, accountId: String(account_id), host: new URL(url).host }),
  );
  return { to: `/endpoints/${id}`, entryId };
}
