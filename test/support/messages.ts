// Messages written straight to the database, for tests of what happens to them.
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { newMessageState } from '#libs/models/messages/message-moves.ts';
import { findOwn, insertOwn } from '#libs/models/records.ts';
import { type Id, newId, newRecord, storedId } from '#libs/models/tenant.ts';

/** Returns a queued message about an invoice to one recipient, with other fields where they are given. */
export function messageOf(accountId: Id, fields: Partial<MessageRecord> = {}): MessageRecord {
  const record = newRecord(accountId);
  return {
    ...record,
    kind: 'invoice',
    document: { type: 'invoice', id: storedId(newId()), number: 'INV-0042' },
    client_id: storedId(newId()),
    locale: 'en-US',
    subject: 'Invoice INV-0042',
    subject_template: 'Invoice {number}',
    body_template: 'Hello {client_name},\n\nyour invoice {number} is attached.',
    attach_pdf: true,
    from_name: 'Studio North',
    recipients: [{ address: 'ada@example.com', role: 'to', state: 'queued', at: record.created_at }],
    message_id: `<${String(record._id)}@mail.example.com>`,
    ...newMessageState('queue', record.created_at),
    ...fields,
  };
}

/** Stores a message and returns it. */
export async function insertMessage(accountId: Id, fields: Partial<MessageRecord> = {}): Promise<MessageRecord> {
  const message = messageOf(accountId, fields);
  await inUnit(accountId, ({ session }) => insertOwn(Message, message, session));
  return message;
}

/** Returns the message as it is stored now. */
export async function storedMessage({ account_id, _id }: MessageRecord): Promise<MessageRecord> {
  const found = await findOwn(Message, String(account_id), _id);
  if (!found) throw new Error(`message ${String(_id)} is gone`);
  return found;
}

/** Runs work of an account in a unit of work, and returns its result. */
export async function inUnit<Result>(accountId: Id, work: (unit: UnitOfWork) => Promise<Result>): Promise<Result> {
  return (await runUnitOfWork({ accountId }, work)).result;
}
