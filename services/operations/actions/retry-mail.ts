// Retries one message, or all that match a search of failed or waiting ones.
import { MESSAGES_EXAMINED_MAX } from '#libs/models/messages/mail-problems.ts';
import { audited } from '#libs/models/operations/audit-entry.ts';
import { counted } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { note } from '#libs/pages/parts.ts';
import { requireMessage } from '../pages/message.ts';
import { actorOf, type Done, type Visit } from '../session/visit.ts';
import { countRetried, isRetriable, type MailSearch } from '../store/mail-search.ts';
import { mailSearchOf } from '../views/filters.ts';
import { bulkAction } from './bulk-action.ts';
import { retryInUnit } from './retry-in-unit.ts';

export async function retryOneMessage({ request, visitor }: Visit): Promise<Done> {
  const message = await requireMessage(request.params['id']);
  const id = String(message._id);
  const auditedAction = { ...actorOf(visitor), action: 'message.retry', target: id } as const;
  const { to, entryId } = await audited(auditedAction, async () => {
    const outcome = await retryInUnit(String(message.account_id), id);
    if (!outcome) throw new PageError(404, 'The message no longer exists');
    if ('no' in outcome) throw new PageError(409, `${outcome.no}. Nothing was changed.`);
    if ('hastened' in outcome) return { to: id, detail: 'The message is due now.' };
    const { _id, recipients } = outcome.again;
    return {
      to: String(_id),
      detail: `The message is sent again to ${counted(recipients.length, 'recipient')} as ${String(_id)}.`,
    };
  });
  return { to: `/mail/${to}`, entryId };
}

export const retryMatchingMail = bulkAction({
  kind: 'retry-mail',
  auditAction: 'messages.retry',
  section: '/mail',
  path: '/mail/retry',
  title: 'Retry mail',
  records: ['message', 'messages'],
  runTitle: 'Retry mail that is',
  outcome: ['message is retried', 'messages are retried'],
  viewerNote: 'Viewers cannot start a retry.',
  noneNote: 'Nothing can be retried.',
  states: { name: 'state', standard: 'failed' },
  named: new Set(['id', 'account', 'kind', 'server', 'number', 'cause', 'from', 'to']),
  countedMax: MESSAGES_EXAMINED_MAX,
  searchOf: retriableSearch,
  count: (search) => countRetried(search),
  explain: (_selection, { isCut }) => html`
    <p class="quiet">A failed message is sent again as a new one, to those recipients alone that the mail server rejected; one that waits is due at once. Left out are messages that may have arrived, that were sent again already, and recipients that are suppressed.</p>
    ${isCut ? note('quiet', 'There are more messages than were looked at. Retry them in parts, by account or time.') : null}
  `,
});

function retriableSearch(selection: URLSearchParams): MailSearch {
  const search = mailSearchOf(selection);
  if (isRetriable(search)) return search;
  throw new PageError(
    400,
    'Only messages that failed or that are retrying can be retried, and not by the address of a recipient.',
  );
}
