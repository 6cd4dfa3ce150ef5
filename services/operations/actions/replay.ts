// Replays all deliveries that match a search.
import { html } from '#libs/pages/html.ts';
import { note } from '#libs/pages/parts.ts';
import { countDeliveries } from '../store/delivery-search.ts';
import { deliverySearchOf } from '../views/filters.ts';
import { bulkAction } from './bulk-action.ts';

const COUNTED_MAX = 1_000_000;

export const replayMatching = bulkAction({
  kind: 'replay-deliveries',
  auditAction: 'deliveries.replay',
  section: '/deliveries',
  path: '/deliveries/replay',
  title: 'Replay deliveries',
  records: ['delivery', 'deliveries'],
  runTitle: 'Replay deliveries that are',
  outcome: ['delivery goes out again', 'deliveries go out again'],
  viewerNote: 'Viewers cannot start a replay.',
  noneNote: 'Nothing matches.',
  states: { name: 'status', standard: 'dead,held' },
  named: new Set(['id', 'endpoint', 'event', 'cause', 'from', 'to']),
  countedMax: COUNTED_MAX,
  searchOf: deliverySearchOf,
  count: async (search) => ({ matches: await countDeliveries(search, COUNTED_MAX), isCut: false }),
  explain: (selection) => html`
    ${
      selection.get('status')?.includes('delivered')
        ? note('warn', 'Some were delivered before: their receivers get them again with the same webhook-id.')
        : null
    }
    <p class="quiet">Each is sent again with the same id and retried like a new one. Those of a disabled endpoint are suspended again until it is enabled.</p>
  `,
});
