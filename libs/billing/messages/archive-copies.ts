// The blind copy of every mail for the archive of an account. It follows the account's address until the mail leaves.
import { agreedDate } from '../../clock.ts';
import type { AccountRecord, MailSettings } from '../../models/accounts/account.ts';
import { Message, type MessageRecord, normalAddress, type Recipient } from '../../models/messages/message.ts';
import { isFollowing, messageGuard } from '../../models/messages/message-moves.ts';
import { suppressedOf } from '../../models/messages/suppression.ts';
import { driverOf } from '../../models/records.ts';
import { storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { setRecipients } from './set-recipients.ts';

/** The messages that are changed in one request. An attempt of each of the others changes it, see followArchive. */
const CHANGED_MAX = 1_000;

export type Named = Pick<Recipient, 'address' | 'role' | 'archive'>;

/**
 * Returns the address of the account for blind copies, in lower case. Undefined also while it is suppressed: an archive
 * that takes no mail must not keep mail from clients.
 */
export async function archiveOf(
  { session, accountId }: Pick<UnitOfWork, 'accountId'> & Partial<Pick<UnitOfWork, 'session'>>,
  { mail }: Pick<AccountRecord, 'mail'>,
): Promise<string | undefined> {
  const { bcc } = (mail as MailSettings | undefined) ?? {};
  if (!bcc) return undefined;
  const archive = normalAddress(bcc);
  return (await suppressedOf(accountId, [archive], session)).has(archive) ? undefined : archive;
}

/**
 * Returns the recipients with this archive in place of a former one. An address that a caller named stays, and so does
 * an archive that has the mail.
 * @param rest the other fields of a recipient that is added.
 */
export function withArchive<One extends Named & { state?: Recipient['state'] }>(
  recipients: readonly One[],
  archive: string | undefined,
  rest: Omit<One, keyof Named>,
): readonly One[] {
  const isFormer = ({ archive: isArchive, address, state }: One) =>
    isArchive === true && address !== archive && (state === undefined || isFollowing({ state }));
  const others = recipients.some(isFormer) ? recipients.filter((one) => !isFormer(one)) : recipients;
  const hasIt = ({ archive: isArchive, address, state }: One) =>
    address === archive || (isArchive === true && state === 'accepted');
  if (archive !== undefined && !others.some(hasIt))
    return [...others, { ...rest, address: archive, role: 'bcc', archive: true } as One];
  // A mail that repeats the copy of a former archive alone has no other recipient.
  return others.length > 0 ? others : recipients;
}

/** Lets messages that wait go to the archive that the account has now. */
export async function readdressArchive(unit: UnitOfWork, account: Pick<AccountRecord, 'mail'>): Promise<void> {
  const { session, accountId } = unit;
  const archive = await archiveOf(unit, account);
  const now = agreedDate();
  const former = { recipients: { $elemMatch: { archive: true, address: { $ne: archive ?? null } } } };
  const waiting = {
    account_id: storedId(accountId),
    ...messageGuard('cancel', { now }),
    $and: [archive === undefined ? former : { $or: [former, { 'recipients.address': { $ne: archive } }] }],
  } as object;
  const found = (await driverOf(Message)
    // Few messages of the account wait.
    .find(waiting, { session, limit: CHANGED_MAX, hint: { account_id: 1, state: 1, _id: 1 } })
    .toArray()) as unknown as MessageRecord[];
  for (const message of found) {
    const recipients = followed(message, archive);
    if (recipients) await setRecipients(unit, message, { recipients }, messageGuard('cancel', { now }));
  }
}

/**
 * Lets a message that a worker has a lease of go to the archive that the account has now.
 * @returns the message as it is then, or undefined when the transaction does not see the lease.
 */
export async function followArchive(
  unit: UnitOfWork,
  message: MessageRecord,
  { archive, leaseId }: { archive: string | undefined; leaseId: string },
): Promise<MessageRecord | undefined> {
  const recipients = followed(message, archive);
  return recipients ? setRecipients(unit, message, { recipients }, messageGuard('extendLease', { leaseId })) : message;
}

/** Returns the recipients that the message has with this archive, or undefined when it has them already. */
export function followed(
  { recipients, state }: Pick<MessageRecord, 'recipients' | 'state'>,
  archive: string | undefined,
): Recipient[] | undefined {
  const changed = withArchive(recipients, archive, { state, at: agreedDate() });
  return changed === recipients ? undefined : [...changed];
}
