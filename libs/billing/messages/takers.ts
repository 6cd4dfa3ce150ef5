// The people who took an invoice by mail.
import { type ClientRecord, isOfFormerAddress } from '../../models/accounts/client.ts';
import { Message, type MessageRecord } from '../../models/messages/message.ts';
import { bringsInvoice } from '../../models/messages/message-kinds.ts';
import { withoutSuppressed } from '../../models/messages/suppression.ts';
import { driverOf } from '../../models/records.ts';
import { type StoredId, storedId } from '../../models/tenant.ts';
import type { UnitOfWork } from '../unit-of-work.ts';

/** The latest messages about an invoice among which the last one that brought it is looked for. */
const MESSAGES_READ = 20;

/**
 * Returns the addresses in the header `To` for which a mail server took the latest mail that brought the invoice, without
 * those from which mail came back. Undefined when there are none.
 * @param client its client. Mail from before a change of its address does not count.
 */
export async function takersOf(
  { session, accountId }: Pick<UnitOfWork, 'session' | 'accountId'>,
  invoiceId: StoredId,
  client: Pick<ClientRecord, 'email_removed_at'>,
): Promise<string[] | undefined> {
  const about = { account_id: storedId(accountId), 'document.id': invoiceId } as object;
  const projection = { kind: 1, recipients: 1, erased_at: 1, created_at: 1 };
  const found = (await driverOf(Message)
    .find(about, { session, sort: { _id: -1 }, limit: MESSAGES_READ, projection })
    .toArray()) as unknown as Pick<MessageRecord, 'kind' | 'recipients' | 'erased_at' | 'created_at'>[];
  for (const { kind, recipients, erased_at, created_at } of found) {
    if (erased_at || !bringsInvoice(kind) || isOfFormerAddress(client, created_at)) continue;
    const takers = recipients.filter(({ role, state }) => role === 'to' && state === 'accepted');
    const mailed = await withoutSuppressed(accountId, takers, session);
    if (mailed.length > 0) return mailed.map(({ address }) => address);
  }
  return undefined;
}
