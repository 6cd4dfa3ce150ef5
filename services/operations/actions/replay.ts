// Replays all deliveries that match a search. It shows their number first, then runs in the background.
import { audited } from '#libs/models/operations/audit-entry.ts';
import { counted, countedUpTo, countUpTo } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { action, note } from '#libs/pages/parts.ts';
import { paramsOf, selectionParams } from '#libs/pages/query.ts';
import { actorOf, type Done, type Visit } from '../session/visit.ts';
import { countDeliveries } from '../store/delivery-search.ts';
import { deliverySearchOf } from '../views/filters.ts';
import type { Page } from '../views/layout.ts';

const COUNTED_MAX = 1_000_000;
/** The filters that a title names, besides the state. */
const NAMED = new Set(['id', 'endpoint', 'event', 'cause', 'from', 'to']);

export async function confirmReplay({ request, visitor }: Visit): Promise<Page> {
  const selection = selectionOf(paramsOf(request));
  const total = await countDeliveries(deliverySearchOf(selection), COUNTED_MAX);
  const body = html`<div class="card">
    <p class="figure"><strong>${countUpTo(COUNTED_MAX, total)}</strong> ${total === 1 ? 'delivery that is' : 'deliveries that are'} ${inWords(selection)}</p>
    ${
      selection.get('status')?.includes('delivered')
        ? note('warn', 'Some were delivered before: their receivers get them again with the same webhook-id.')
        : null
    }
    <p class="quiet">Each is sent again with the same id and retried like a new one. Those of a disabled endpoint are suspended again until it is enabled.</p>
    ${
      visitor.role !== 'operator'
        ? note('quiet', 'Viewers cannot start a replay.')
        : total > 0
          ? action({
              to: '/deliveries/replay',
              csrf: visitor.csrf,
              label: `Replay ${counted(total, 'delivery', 'deliveries')}`,
              tone: 'main',
              fields: { selection: selection.toString() },
            })
          : note('quiet', 'Nothing matches.')
    }
    <p><a href=${`/deliveries?${selection}`}>Show them first</a></p>
  </div>`;
  return { title: 'Replay deliveries', section: '/deliveries', body };
}

export async function replayMatching({ request, visitor, bulk }: Visit): Promise<Done> {
  const { selection: given } = request.body as { selection?: unknown };
  const selection = selectionOf(selectionParams(typeof given === 'string' ? given : ''));
  // This comes before the audit log, so that only a search that can be made is recorded.
  const search = deliverySearchOf(selection);
  const title = `Replay deliveries that are ${inWords(selection)}`;
  const auditedAction = { ...actorOf(visitor), action: 'deliveries.replay', target: selection.toString() } as const;
  const { runId, entryId } = await audited(auditedAction, async () => {
    const total = await countDeliveries(search, COUNTED_MAX);
    const run = { kind: 'replay-deliveries', title, selection: selection.toString(), total } as const;
    const { _id } = await bulk.start({ ...run, operator: visitor.name });
    return {
      runId: String(_id),
      detail: `${countedUpTo(COUNTED_MAX, total, 'delivery goes', 'deliveries go')} out again.`,
    };
  });
  return { to: `/bulk/${runId}`, entryId };
}

/** Returns a selection with the states dead and held, unless it names others. */
function selectionOf(params: URLSearchParams): URLSearchParams {
  const selection = new URLSearchParams(params);
  selection.delete('page');
  if (!selection.has('status')) selection.set('status', 'dead,held');
  return selection;
}

function inWords(selection: URLSearchParams): string {
  const states = (selection.get('status') ?? '').split(',').join(' or ');
  const rest = [...selection].flatMap(([name, value]) => (NAMED.has(name) ? [`${name} ${value}`] : []));
  return [states, ...rest].join(', ');
}
