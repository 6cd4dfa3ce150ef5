// The page that searches for messages, and its parts that other pages show.
import type { VNode } from 'preact';
import { maskedAddress } from '#libs/mail/masked.ts';
import { MESSAGES_EXAMINED_MAX } from '#libs/models/messages/mail-problems.ts';
import { MESSAGE_KINDS } from '#libs/models/messages/message-kinds.ts';
import { ago, count, countedUpTo, moment } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { type Column, choiceField, note, pager, table, textField, timeField } from '#libs/pages/parts.ts';
import { PAGE_SIZE, pageNumberOf, paramsOf, shownOf, sliceOf, textOf, withoutPage } from '#libs/pages/query.ts';
import type { Visit, Visitor } from '../session/visit.ts';
import { readAccountNames } from '../store/endpoint-names.ts';
import { causeOf } from '../store/mail-causes.ts';
import { countMail, isRetriable, MAIL_STATES, type MailCount, type MailRow, searchMail } from '../store/mail-search.ts';
import { mailSearchOf } from '../views/filters.ts';
import type { Page } from '../views/layout.ts';
import { causeText, mailBadge, recipientList, retryButton } from '../views/mail-state.ts';
import { underForm } from '../views/search-form.ts';

export const SECTION = '/mail';

export async function mailPage({ request, visitor }: Visit): Promise<Page> {
  const params = paramsOf(request);
  const shown = await underForm(filters(params), () => matches(params, visitor));
  return { title: 'Mail', section: SECTION, ...shown };
}

async function matches(given: URLSearchParams, visitor: Visitor): Promise<VNode> {
  const search = mailSearchOf(given);
  const number = pageNumberOf(given);
  const params = withoutPage(given);
  const isSearch = params.size > 0;
  // The count is read last, so that it is never less than what is shown.
  const { rows, hasNext } = shownOf(await searchMail(search, sliceOf(number)));
  const total = isSearch ? await countMail(search) : undefined;
  const accounts = await readAccountNames(rows);
  return html`<div>
    ${total ? results(total, { mayRetry: visitor.role === 'operator' && isRetriable(search), params }) : null}
    ${table('Messages', columnsFor(visitor, accounts), rows, 'No message matches. Fewer filters or another time may find it.')}
    ${
      search.address === undefined
        ? pager(SECTION, params, { number, hasNext })
        : hasNext
          ? note('quiet', `More match than the ${PAGE_SIZE} that are shown. Name an account or a time.`)
          : null
    }
    <p class="quiet"><a href="/failures">Failures</a> groups mail that did not arrive by the reply of the server.</p>
  </div>`;
}

function results({ matches, isCut }: MailCount, { mayRetry, params }: { mayRetry: boolean; params: URLSearchParams }) {
  return html`<div class="results">
    <p>
      ${countedUpTo(MESSAGES_EXAMINED_MAX, matches, 'message matches', 'messages match')}.
      ${isCut ? html` <span class="quiet">Only ${count(MESSAGES_EXAMINED_MAX)} messages were looked at; name an account or a time to reach the others.</span>` : null}
    </p>
    ${mayRetry && matches > 0 ? html`<a class="button" href=${`${SECTION}/retry?${params}`}>Retry all matches…</a>` : null}
  </div>`;
}

/** Shows the form. The address of a recipient is shown masked. */
function filters(params: URLSearchParams): VNode {
  const address = textOf(params, 'address');
  const value = (name: string) => params.get(name) ?? '';
  const choices = (all: readonly string[]) => all.map((each) => ({ value: each, label: each.replaceAll('_', ' ') }));
  const any = { value: '', label: 'any' };
  return html`<form class="filters" method="get" action=${SECTION}>
    ${textField('id', 'Id', value('id'), 'of a message or an account, or a Message-ID')}
    ${choiceField('state', 'State', value('state'), [any, ...choices(MAIL_STATES)])}
    ${choiceField('kind', 'Kind', value('kind'), [any, ...choices(MESSAGE_KINDS)])}
    ${textField('account', 'Account', value('account'), 'id')}
    ${textField('number', 'Document', value('number'), 'INV-0042')}
    ${textField('address', 'Recipient', '', address === undefined ? 'the whole address' : `searched: ${maskedAddress(address)}`)}
    ${choiceField('server', 'Server', value('server'), [
      any,
      { value: 'installation', label: 'the installation’s' },
      { value: 'own', label: 'one of an account' },
    ])}
    ${textField('cause', 'Cause', value('cause'), '550 5.1.1, timeout')}
    ${timeField('from', 'From (UTC)', value('from'))} ${timeField('to', 'To (UTC)', value('to'))}
    <div class="buttons"><button class="main">Search</button> <a href=${SECTION}>Clear</a></div>
  </form>`;
}

function columnsFor(visitor: Visitor, accounts: Map<string, string>): Column<MailRow>[] {
  return [
    { name: 'Created (UTC)', cell: ({ created_at }) => moment(created_at) },
    {
      name: 'Message',
      cell: ({ _id, kind, document }) =>
        html`<span><a href=${`${SECTION}/${String(_id)}`}>${document.number}</a> <small class="quiet">${kind.replaceAll('_', ' ')}</small></span>`,
    },
    {
      name: 'Account',
      cell: ({ account_id }) =>
        html`<a href=${`/accounts/${String(account_id)}`}>${accounts.get(String(account_id)) ?? '–'}</a>`,
    },
    { name: 'State', cell: mailBadge },
    { name: 'Recipients', cell: ({ recipients }) => recipientList(recipients) },
    { name: 'Attempts', isNumber: true, cell: ({ attempts_made }) => count(attempts_made) },
    { name: 'Last answer', cell: ({ last }) => (last ? causeText(causeOf(last)) : '–') },
    { name: 'Next try', cell: ({ next_at }) => (next_at ? ago(next_at) : '–') },
    ...(visitor.role === 'operator'
      ? [{ name: 'Act', cell: (message: MailRow) => retryButton(message, visitor) ?? '–' }]
      : []),
  ];
}
