// The page of one message: why it waits or how it ended, its recipients, attempts and attachments, and the button that retries it.
import type { VNode } from 'preact';
import { whyNoRetry } from '#libs/billing/messages/retry-message.ts';
import { sendMail, sendOwnMail } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { maskedAddress, maskedReply } from '#libs/mail/masked.ts';
import { findMailServer } from '#libs/models/messages/mail-server.ts';
import { findMailService } from '#libs/models/messages/mail-service.ts';
import {
  type MailAttachment,
  type MailAttempt,
  Message,
  type MessageRecord,
  type Recipient,
} from '#libs/models/messages/message.ts';
import { acrossAccounts, isId } from '#libs/models/tenant.ts';
import { ago, bytes, count, duration, moment } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { badge, type Column, idLine, stat, type Tone, table } from '#libs/pages/parts.ts';
import type { Visit } from '../session/visit.ts';
import { readAccountNames } from '../store/endpoint-names.ts';
import { causeOf, meaningOf } from '../store/mail-causes.ts';
import type { Page } from '../views/layout.ts';
import { causeText, mailBadge, recipientBadge, retryButton, whyMailWaits } from '../views/mail-state.ts';
import { SECTION } from './mail.ts';

/** The characters of a reply that are shown. */
const REPLY_SHOWN = 300;

/** The words of the mail and its headers are no matter of operators. */
const HIDDEN = {
  subject: 0,
  subject_template: 0,
  body_template: 0,
  texts: 0,
  link: 0,
} as const;

export type ShownMessage = Omit<MessageRecord, keyof typeof HIDDEN>;

export async function messagePage({ request, visitor, queues }: Visit): Promise<Page> {
  const message = await requireMessage(request.params['id']);
  const last = message.attempts.at(-1);
  const [accounts, isPaused, server] = await Promise.all([
    readAccountNames([message]),
    isQueuePaused(queues, message),
    readServer(message),
  ]);
  const why = whyMailWaits({ ...message, ...(last ? { last } : {}) }, { isPaused, hasServer: server.isKnown });
  const noRetry = whyNoRetry(message, new Date());
  const body = html`<div>
    <div class="card">
      <p>${why}</p>
      <dl class="stats wide">
        ${stat('State', mailBadge(message))} ${stat('Kind', message.kind.replaceAll('_', ' '))}
        ${stat('Document', message.document.number)} ${stat('Account', accounts.get(String(message.account_id)) ?? '–')}
        ${stat('Created', ago(message.created_at))} ${stat('Next try', ago(message.next_at))}
        ${stat('Attempts', count(message.attempts_made))} ${stat('Leaves by', server.name)}
      </dl>
      <dl class="ids">${idLines(message)}</dl>
      ${visitor.role === 'operator' ? (retryButton(message, visitor) ?? html`<p class="quiet">No retry: ${noRetry}.</p>`) : null}
    </div>
    <h2>Recipients</h2>
    ${table('Recipients, with the state of each', recipientColumns, message.recipients, 'It has no recipient.')}
    <h2>Attempts</h2>
    ${table('Attempts, newest first', attemptColumns, message.attempts.toReversed(), 'No attempt yet.')}
    <h2>Attachments</h2>
    ${table('Attachments', attachmentColumns, message.attachments, 'None, or the mail was not made yet.')}
  </div>`;
  return { title: 'Message', section: SECTION, body };
}

function idLines({ _id, account_id, document, client_id, message_id, resend_of, resent_as, request_id }: ShownMessage) {
  const messageLine = (name: string, id: unknown) => (id ? idLine(name, id, `${SECTION}/${String(id)}`) : null);
  return html`${idLine('Message', _id)} ${idLine('Account', account_id, `/accounts/${String(account_id)}`)}
    ${idLine('Document', document.id)} ${idLine('Client', client_id)} ${idLine('Message-ID', message_id)}
    ${messageLine('Repeats', resend_of)} ${messageLine('Repeated by', resent_as)}
    ${request_id ? idLine('Request', request_id) : null}`;
}

const recipientColumns: Column<Recipient>[] = [
  { name: 'Recipient', cell: ({ address }) => html`<span class="url">${maskedAddress(address)}</span>` },
  { name: 'Role', cell: ({ role }) => role },
  { name: 'State', cell: ({ state }) => recipientBadge(state) },
  { name: 'Since', cell: ({ at }) => (at ? ago(at) : '–') },
  { name: 'Code', cell: ({ code }) => (code ? causeText(code) : '–') },
  { name: 'Reply', cell: ({ text }) => reply(text) },
];

const attemptColumns: Column<MailAttempt>[] = [
  { name: 'At (UTC)', cell: ({ at }) => moment(at) },
  {
    name: 'Outcome',
    cell: (attempt) =>
      html`${badge(causeOf(attempt), toneOf(attempt))} <small class="quiet">${meaningOf(causeOf(attempt))}</small>`,
  },
  { name: 'Took', isNumber: true, cell: ({ duration_ms }) => (duration_ms == null ? '–' : duration(duration_ms)) },
  { name: 'Reply', cell: ({ text }) => reply(text) },
];

const attachmentColumns: Column<MailAttachment>[] = [
  { name: 'Name', cell: ({ name }) => html`<span class="url">${name}</span>` },
  { name: 'Size', isNumber: true, cell: ({ bytes: size }) => bytes(size) },
];

function toneOf({ code }: MailAttempt): Tone {
  if (code?.startsWith('2')) return 'good';
  return code?.startsWith('4') ? 'warn' : 'bad';
}

function reply(text: string | undefined): VNode | string {
  return text ? html`<span class="url">${maskedReply(text, REPLY_SHOWN)}</span>` : '–';
}

/** Returns the server by which the message leaves, and whether there is one. */
async function readServer({ sender, account_id }: ShownMessage): Promise<{ name: string; isKnown: boolean }> {
  if (sender === undefined)
    return { name: 'the server of the installation', isKnown: (await findMailService()) !== undefined };
  const server = await findMailServer(String(account_id));
  // An attempt says that it was deleted.
  return {
    name: server ? `the account’s ${server.host}:${server.port}` : 'one of the account, deleted',
    isKnown: true,
  };
}

/** True when an operator has paused the queue of the message. Unknown while Redis is unavailable. */
async function isQueuePaused(queues: Queues, { sender }: ShownMessage): Promise<boolean> {
  return queues
    .raw(sender === undefined ? sendMail : sendOwnMail)
    .isPaused()
    .catch(() => false);
}

export async function requireMessage(id: unknown): Promise<ShownMessage> {
  // Operators see all accounts.
  const message = isId(id)
    ? await Message.findOne({ _id: id }).setOptions(acrossAccounts).select(HIDDEN).lean<ShownMessage>()
    : null;
  if (!message) throw new PageError(404, 'No such message');
  return message;
}
