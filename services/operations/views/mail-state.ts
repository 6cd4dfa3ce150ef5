// Shows the state of a message and of its recipients, and why a message waits or how it ended.
import type { VNode } from 'preact';
import { whyNoRetry } from '#libs/billing/messages/retry-message.ts';
import { maskedAddress } from '#libs/mail/masked.ts';
import type { Recipient, RecipientState } from '#libs/models/messages/message.ts';
import { OVERDUE_MS } from '#libs/models/overdue.ts';
import { html } from '#libs/pages/html.ts';
import { action, badge, type Tone } from '#libs/pages/parts.ts';
import type { Visitor } from '../session/visit.ts';
import { causeOf, meaningOf } from '../store/mail-causes.ts';
import type { MailRow } from '../store/mail-search.ts';

const TONES: Readonly<Record<RecipientState, Tone>> = {
  planned: 'quiet',
  queued: 'main',
  sending: 'main',
  accepted: 'good',
  unknown: 'warn',
  failed: 'bad',
  cancelled: 'quiet',
  bounced: 'bad',
  complained: 'bad',
  suppressed: 'warn',
};

export function recipientBadge(state: RecipientState): VNode {
  return badge(state, TONES[state]);
}

/** Shows the state of a message. A queued one is `retrying` after its first attempt. */
export function mailBadge({ state, attempts_made }: Pick<MailRow, 'state' | 'attempts_made'>): VNode {
  return state === 'queued' && attempts_made > 0 ? badge('retrying', 'warn') : recipientBadge(state);
}

/** The recipients of a message that a list names. */
const RECIPIENTS_NAMED = 3;
/** The order of recipients in a list: those that did not get it come first. */
const WORST_FIRST: readonly Tone[] = ['bad', 'warn', 'main', 'quiet', 'good'];

/** Shows recipients with the state of each. */
export function recipientList(recipients: readonly Pick<Recipient, 'address' | 'state'>[]): VNode {
  const sorted = recipients.toSorted((one, other) => badness(one) - badness(other));
  const more = sorted.length - RECIPIENTS_NAMED;
  return html`<ul class="jobs">
    ${sorted
      .slice(0, RECIPIENTS_NAMED)
      .map(
        ({ address, state }) =>
          html`<li>${recipientBadge(state)} <span class="url">${maskedAddress(address)}</span></li>`,
      )}
    ${more > 0 ? html`<li class="quiet">and ${more} more</li>` : null}
  </ul>`;
}

function badness({ state }: Pick<Recipient, 'state'>): number {
  return WORST_FIRST.indexOf(TONES[state]);
}

/** Shows the cause of a failed attempt with its meaning. */
export function causeText(cause: string): VNode {
  const meaning = meaningOf(cause);
  return html`<span>${cause}${meaning ? html` <small class="quiet">${meaning}</small>` : null}</span>`;
}

/** Shows the button that retries the message, where a retry does something. */
export function retryButton(message: MailRow, { csrf, role }: Visitor): VNode | null {
  if (role !== 'operator' || whyNoRetry(message, new Date()) !== undefined) return null;
  const label = message.state === 'queued' ? 'Try now' : 'Send again';
  const of = `${message.document.number} ${String(message._id)}`;
  return action({ to: `/mail/${String(message._id)}/retry`, csrf, label, of });
}

type Waiting = Pick<MailRow, 'state' | 'recipients' | 'next_at' | 'lease_until' | 'unknown_at' | 'last' | 'sender'>;

/**
 * Returns in one sentence what the message waits for, or how it ended.
 * @param isPaused whether an operator has paused its queue.
 * @param hasServer whether a mail service has registered a server for it.
 */
export function whyMailWaits(
  message: Waiting,
  { isPaused, hasServer, now = new Date() }: { isPaused: boolean; hasServer: boolean; now?: Date },
): string {
  const { state, recipients, next_at, lease_until, unknown_at, last } = message;
  const isLeased = lease_until !== undefined && lease_until > now;
  switch (state) {
    case 'planned':
      return 'It leaves at the time for which it is planned.';
    case 'sending':
      return isLeased
        ? 'The mail server is getting it, and has not said yet that it took it.'
        : 'The process that sent it ended. It is about to be unknown, and is sent once more then.';
    case 'unknown':
      return 'The mail server got it and did not say whether it took it. It is sent once more by itself, with the same Message-ID.';
    case 'accepted':
      return recipients.every((one) => one.state === 'accepted')
        ? 'The mail server took it.'
        : 'The mail server took it for at least one recipient.';
    case 'failed':
      return unknown_at
        ? 'It failed. It may have arrived: the mail server once did not say whether it took it.'
        : 'It failed. No recipient got it.';
    case 'cancelled':
      return last?.text
        ? 'It was withdrawn before it left; its last attempt says why.'
        : 'It was cancelled before it left.';
    case 'queued':
      break;
  }
  if (isLeased) return 'An attempt is being made, or its process ended and another one takes over.';
  if (next_at && next_at > now) return `It waits for its next attempt${last ? ` after: ${causeOf(last)}` : ''}.`;
  if (isPaused) return 'It is due, and its queue is paused.';
  if (!hasServer) return 'It is due, and no mail service has a mail server: set SMTP_URL and MAIL_FROM.';
  if (next_at && now.getTime() - next_at.getTime() > OVERDUE_MS)
    return 'It is due, and no mail service takes it: look whether one runs and reaches MongoDB and Redis.';
  return 'It is due, and waits for a mail service or for its share among other accounts.';
}
