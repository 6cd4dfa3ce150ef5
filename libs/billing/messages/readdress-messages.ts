// Lets mail that waits follow the address of its client, and the address for blind copies of its account.
import { agreedDate } from '../../clock.ts';
import { changeTime } from '../../models/counter.ts';
import { Message, type MessageRecord, normalAddress, type Recipient } from '../../models/messages/message.ts';
import { messageGuard } from '../../models/messages/message-moves.ts';
import { driverOf } from '../../models/records.ts';
import { countStored, sizeOf } from '../../models/stored-bytes.ts';
import { storedId } from '../../models/tenant.ts';
import { setReminderMark } from '../reminders/plan-reminder.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveMessage } from './move-message.ts';
import { withHead } from './repeated-recipients.ts';
import { freeStep } from './withdraw-message.ts';

/** The messages that are changed in one request. Few wait. */
const CHANGED_MAX = 1_000;

interface Addresses {
  from: string | null | undefined;
  /** Empty where there is none any more. */
  to: string | null | undefined;
}

/**
 * Replaces the former address of the client in messages that wait. Where the client has none any more, the mail goes to
 * its other recipients, and one without any is cancelled. A mail that was made has the address in its headers, and stays:
 * an attempt of it may be under way.
 */
export async function readdressMessages(
  unit: UnitOfWork,
  { _id: client_id }: { _id: MessageRecord['client_id'] },
  addresses: Addresses,
): Promise<void> {
  const address = normalAddress(addresses.from ?? '');
  await replaceAddress(unit, { about: { client_id, 'recipients.address': address }, addresses });
}

/** Replaces the former address for blind copies of the account in messages that wait, or leaves it out. */
export async function readdressArchive(unit: UnitOfWork, addresses: Addresses): Promise<void> {
  const address = normalAddress(addresses.from ?? '');
  // Every message of the account has the address, and few of them wait.
  const hint = { account_id: 1, state: 1, _id: 1 } as const;
  await replaceAddress(unit, { about: { recipients: { $elemMatch: { address, role: 'bcc' } } }, addresses, hint });
}

async function replaceAddress(
  unit: UnitOfWork,
  { about, addresses, hint }: { about: object; addresses: Addresses; hint?: Record<string, 1> },
): Promise<void> {
  const { session, accountId } = unit;
  const [from, to] = [normalAddress(addresses.from ?? ''), normalAddress(addresses.to ?? '')];
  if (!from || from === to) return;
  const waiting = {
    account_id: storedId(accountId),
    ...about,
    // A message that its caller could still cancel.
    ...messageGuard('cancel', { now: agreedDate() }),
    attempts_made: 0,
  } as object;
  const found = (await driverOf(Message)
    .find(waiting, { session, limit: CHANGED_MAX, ...(hint ? { hint } : {}) })
    .toArray()) as unknown as MessageRecord[];
  for (const message of found) {
    // Each address stands once.
    const isThere = !to || message.recipients.some(({ address }) => address === to);
    const replaced = message.recipients.map((one) => (one.address === from ? { ...one, address: to } : one));
    const recipients = isThere ? withHead(message.recipients.filter(({ address }) => address !== from)) : replaced;
    if (recipients.every(({ role }) => role === 'bcc')) await cancelWithout(unit, message);
    else await setRecipients(unit, message, recipients);
  }
}

async function cancelWithout(unit: UnitOfWork, message: MessageRecord): Promise<void> {
  const now = agreedDate();
  const values = { settledAt: now, attempt: { at: now, text: 'The client has no address any more' } };
  const cancelled = await moveMessage(unit, message, { move: 'cancel', facts: { now }, values });
  if (!cancelled?.reminder) return;
  await freeStep(unit, cancelled);
  // Others may take the invoice, or the client gets an address again.
  if (cancelled.once) await setReminderMark(unit, cancelled.document.id, now);
}

async function setRecipients({ session, accountId }: UnitOfWork, message: MessageRecord, recipients: Recipient[]) {
  const { _id, account_id } = message;
  const updated_at = await changeTime(session, accountId, new Date());
  const own = { _id, account_id, ...messageGuard('cancel', { now: agreedDate() }) } as object;
  const before = await driverOf(Message).findOneAndUpdate(
    own,
    { $set: { recipients, updated_at } as never },
    { session },
  );
  if (before) countStored(session, sizeOf({ ...before, recipients }) - sizeOf(before));
}
