// Lets mail that waits follow the address of its client.
import { agreedDate } from '../../clock.ts';
import { Message, type MessageRecord, normalAddress, type Recipient } from '../../models/messages/message.ts';
import { messageGuard } from '../../models/messages/message-moves.ts';
import { driverOf } from '../../models/records.ts';
import { storedId } from '../../models/tenant.ts';
import { setReminderMark } from '../reminders/plan-reminder.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { moveMessage } from './move-message.ts';
import { withHead } from './repeated-recipients.ts';
import { setRecipients } from './set-recipients.ts';
import { freeStep, hasIt, READDRESSED } from './withdraw-message.ts';

/** The messages that are changed in one request. Few wait. */
const CHANGED_MAX = 1_000;

interface Addresses {
  from: string | null | undefined;
  /** Empty where there is none any more. */
  to: string | null | undefined;
}

/**
 * Replaces the former address of the client in messages that wait. Where the client has none any more, the mail goes to
 * its other recipients, and one without any is cancelled. A mail that was made has the address in its headers, so its next
 * attempt plans another one. One stays that may have arrived, or of which an attempt is under way.
 */
export async function readdressMessages(
  unit: UnitOfWork,
  { _id: client_id }: { _id: MessageRecord['client_id'] },
  addresses: Addresses,
): Promise<void> {
  const { session, accountId } = unit;
  const [from, to] = [normalAddress(addresses.from ?? ''), normalAddress(addresses.to ?? '')];
  if (!from || from === to) return;
  const cancellable = messageGuard('cancel', { now: agreedDate() });
  const waiting = {
    account_id: storedId(accountId),
    client_id,
    'recipients.address': from,
    // A message that its caller could still cancel.
    ...cancellable,
    unknown_at: null,
  } as object;
  const found = (await driverOf(Message)
    .find(waiting, { session, limit: CHANGED_MAX })
    .toArray()) as unknown as MessageRecord[];
  for (const message of found) {
    if (message.recipients.some(hasIt)) continue;
    const recipients = readdressed(message.recipients, from, to);
    if (recipients.every(({ role }) => role === 'bcc')) await cancelWithout(unit, message);
    else {
      const isMade = message.attempts_made > 0;
      await setRecipients(unit, message, { recipients, ...(isMade ? { shown: READDRESSED } : {}) }, cancellable);
    }
  }
}

/** Each address stands once, in the most visible of its places. The archive of the account is no address of the client. */
function readdressed(recipients: readonly Recipient[], from: string, to: string): Recipient[] {
  const isClients = ({ address, archive }: Recipient) => address === from && !archive;
  const isThere = !to || recipients.some(({ address, role }) => address === to && role !== 'bcc');
  if (isThere) return withHead(recipients.filter((one) => !isClients(one)));
  const others = recipients.some(isClients) ? recipients.filter(({ address }) => address !== to) : recipients;
  return others.map((one) => (isClients(one) ? { ...one, address: to } : one));
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
