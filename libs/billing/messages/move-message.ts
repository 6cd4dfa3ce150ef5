// Moves a message from one state to the next in a unit of work, and lets its document show it.
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import { Invoice } from '../../models/billing/invoice.ts';
import { Quote } from '../../models/billing/quote.ts';
import { changeTime } from '../../models/counter.ts';
import {
  deliveryStateOf,
  Message,
  type MessageRecord,
  messageView,
  type RecipientState,
} from '../../models/messages/message.ts';
import type { MessageFacts } from '../../models/messages/message-guards.ts';
import {
  canErase,
  type MessageMoveValues,
  messageChange,
  messageGuard,
  type RecipientOutcome,
  recipientChange,
} from '../../models/messages/message-moves.ts';
import type { MESSAGE_MOVES, MessageMove } from '../../models/messages/message-states.ts';
import { driverOf, findOwn } from '../../models/records.ts';
import { countStored, sizeOf } from '../../models/stored-bytes.ts';
import type { Actor } from '../../models/webhooks/event-activity.ts';
import type { EventType } from '../../models/webhooks/event-types.ts';
import type { Session } from '../../mongo/connection.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { ERASED_WORDS } from './erased-words.ts';

/** @template Name the move: its guards decide which facts are needed. */
export interface MessageStep<Name extends MessageMove> {
  move: Name;
  /** The values that the guards of the move compare, see message-guards.ts. */
  facts: MessageFacts<(typeof MESSAGE_MOVES)[Name]['guards'][number]>;
  values?: Omit<MessageMoveValues, 'updatedAt'>;
  /** The recipients that do not follow the message. */
  outcomes?: readonly RecipientOutcome[];
}

/**
 * Makes a move, sets the delivery of its document and announces what became of it. A message whose client was anonymised
 * while it was being sent keeps no words of a mail server, and is cancelled instead of being sent again.
 * @param message as it was read; its recipients must be present, which the lease or the transaction warrants.
 * @returns the message after the move, or undefined when a guard does not hold because another actor was faster, or when
 * the message was cancelled.
 */
export async function moveMessage<Name extends MessageMove>(
  unit: UnitOfWork,
  message: MessageRecord,
  { move, facts, values = {}, outcomes = [] }: MessageStep<Name>,
): Promise<MessageRecord | undefined> {
  const updatedAt = await changeTime(unit.session, unit.accountId, new Date());
  const change = messageChange(move, { ...values, updatedAt }, message.recipients, outcomes);
  return changeMessage(unit, message, { filter: messageGuard(move, facts), change, by: message.by });
}

/**
 * Changes one recipient after a delivery report.
 * @returns the message after it, or undefined when the recipient is in that state already.
 */
export async function moveRecipient(
  unit: UnitOfWork,
  message: MessageRecord,
  outcome: RecipientOutcome,
): Promise<MessageRecord | undefined> {
  const updatedAt = await changeTime(unit.session, unit.accountId, new Date());
  const state = message.recipients[outcome.index]?.state;
  const change = recipientChange(message.recipients, outcome, updatedAt);
  return changeMessage(unit, message, { filter: { [`recipients.${outcome.index}.state`]: state }, change });
}

async function changeMessage(
  unit: UnitOfWork,
  message: MessageRecord,
  { filter, change, by }: { filter: object; change: object; by?: Actor | undefined },
): Promise<MessageRecord | undefined> {
  const { session } = unit;
  const moved = await updateMessage(session, message, { filter, change });
  if (!moved) return undefined;
  const changed = moved.erased_at ? await eraseAgain(session, moved) : moved;
  countStored(session, sizeOf(changed) - sizeOf(message));
  if (deliveryStateOf(changed) !== deliveryStateOf(message)) await showDelivery(unit, changed);
  const events = eventsOf(message, changed);
  if (events.length > 0) {
    const view = await shownMessage(unit, changed);
    for (const type of events) await unit.announce(type, view, { activity: { by } });
  }
  return changed.state === moved.state ? changed : undefined;
}

async function updateMessage(
  session: Session,
  { _id, account_id }: MessageRecord,
  { filter, change }: { filter: object; change: object },
): Promise<MessageRecord | null> {
  const own = { ...filter, _id, account_id } as object;
  const changed = await driverOf(Message).findOneAndUpdate(own, change, { session, returnDocument: 'after' });
  return changed as MessageRecord | null;
}

/** Erases what a move wrote to an erased message, and cancels it if it would leave again. */
async function eraseAgain(session: Session, moved: MessageRecord): Promise<MessageRecord> {
  const at = moved.updated_at;
  const ending = messageChange('erase', { settledAt: at, updatedAt: at }, moved.recipients);
  const changes = canErase(moved) ? [ending, ERASED_WORDS] : [ERASED_WORDS];
  let erased = moved;
  for (const change of changes) erased = (await updateMessage(session, moved, { filter: {}, change })) ?? erased;
  return erased;
}

/** The event of each state of a message, and of a recipient, that is news. */
const EVENT_OF = {
  message: { accepted: 'message.accepted', unknown: 'message.unknown' },
  recipient: { failed: 'message.failed', bounced: 'message.bounced', complained: 'message.complained' },
} as const satisfies Record<string, Partial<Record<RecipientState, EventType>>>;

function eventsOf(before: MessageRecord, after: MessageRecord): EventType[] {
  const events = new Set<EventType>();
  for (const [index, { state }] of after.recipients.entries()) {
    if (state !== before.recipients[index]?.state && state in EVENT_OF.recipient)
      events.add(EVENT_OF.recipient[state as keyof typeof EVENT_OF.recipient]);
  }
  if (after.state !== before.state && after.state in EVENT_OF.message)
    events.add(EVENT_OF.message[after.state as keyof typeof EVENT_OF.message]);
  if (after.state === 'accepted' && before.state !== 'accepted' && after.reminder) events.add('reminder.sent');
  return [...events];
}

/** Lets the invoice or the quote show the state of the message, if it is its last one. @param isLast makes it the last one. */
export async function showDelivery(
  { session }: Pick<UnitOfWork, 'session'>,
  message: MessageRecord,
  { isLast = false }: { isLast?: boolean } = {},
): Promise<void> {
  const { account_id, document, updated_at } = message;
  const records = { invoice: Invoice, quote: Quote, payment: undefined, credit_note: undefined, statement: undefined }[
    document.type
  ];
  if (!records) return;
  const delivery = { state: deliveryStateOf(message), message_id: message._id, at: updated_at };
  await driverOf(records).updateOne(
    { _id: document.id, account_id, ...(isLast ? {} : { 'delivery.message_id': message._id }) } as object,
    { $set: { delivery, updated_at } },
    { session },
  );
}

/** Returns the message in the form of the API. */
export async function shownMessage({ session, accountId }: UnitOfWork, message: MessageRecord) {
  const client: ClientRecord | null = await findOwn(Client, accountId, message.client_id, session);
  return messageView(message, client ?? undefined);
}
