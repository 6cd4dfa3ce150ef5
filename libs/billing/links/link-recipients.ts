// The people who got a link by mail.
import { Client, type ClientRecord, isOfFormerAddress } from '../../models/accounts/client.ts';
import { Message, type MessageRecord } from '../../models/messages/message.ts';
import { withoutSuppressed } from '../../models/messages/suppression.ts';
import type { DocumentLinkRecord } from '../../models/portal/document-link.ts';
import { findOwn } from '../../models/records.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/**
 * Returns the recipients of the mail that carried the link. Undefined for a link that no mail carried, and when mail to all
 * of them came back.
 */
export async function linkRecipients(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  { message_id }: Pick<DocumentLinkRecord, 'message_id'>,
): Promise<string[] | undefined> {
  if (!message_id) return undefined;
  const message: MessageRecord | null = await findOwn(Message, accountId, message_id, session);
  if (!message || message.erased_at) return undefined;
  const headed = message.recipients.filter(({ role }) => role === 'to');
  const mailed = await withoutSuppressed(accountId, headed, session);
  return mailed.length > 0 ? mailed.map(({ address }) => address) : undefined;
}

/**
 * Returns the people who get a new link in place of an expired one: those who got the expired one. Undefined also when the
 * account has changed the address of the client since, because they may be the client's people no longer.
 */
export async function renewalRecipients(
  unit: Pick<UnitOfWork, 'session' | 'accountId'>,
  link: Pick<DocumentLinkRecord, 'message_id' | 'client_id' | 'created_at'>,
): Promise<string[] | undefined> {
  const client: ClientRecord | null = await findOwn(Client, unit.accountId, link.client_id, unit.session);
  return isOfFormerAddress(client, link.created_at) ? undefined : linkRecipients(unit, link);
}
