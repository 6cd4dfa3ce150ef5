// Messages written straight to the database, for tests of what happens to them.
import { type MessageStep, moveMessage } from '#libs/billing/messages/move-message.ts';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { registerMailService } from '#libs/models/messages/mail-service.ts';
import { insertMailSource, mailSourceOf } from '#libs/models/messages/mail-source.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { newMessageState } from '#libs/models/messages/message-moves.ts';
import type { MessageMove } from '#libs/models/messages/message-states.ts';
import { driverOf, findOwn, insertOwn } from '#libs/models/records.ts';
import { type Id, newId, newRecord, storedId } from '#libs/models/tenant.ts';
import type { Actor } from '#libs/models/webhooks/event-activity.ts';

/** The client of the messages and of the invoices that they are about. It is not stored. */
export const MAILED_CLIENT = storedId(newId());

/** Returns a queued message about an invoice to one recipient, with other fields where they are given. */
export function messageOf(accountId: Id, fields: Partial<MessageRecord> = {}): MessageRecord {
  const record = newRecord(accountId);
  return {
    ...record,
    kind: 'invoice',
    document: { type: 'invoice', id: storedId(newId()), number: 'INV-0042' },
    client_id: MAILED_CLIENT,
    locale: 'en-US',
    subject: 'Invoice INV-0042',
    subject_template: 'Invoice {number}',
    body_template: 'Hello {client_name},\n\nyour invoice {number} is attached.',
    attach_pdf: true,
    recipients: [{ address: 'ada@example.com', role: 'to', state: 'queued', at: record.created_at }],
    message_id: `<${String(record._id)}@mail.example.com>`,
    ...newMessageState('queue', record.created_at),
    ...fields,
  };
}

/** Stores a message and returns it. Unless the fields name a document, it is about an invoice of which little is stored. */
export async function insertMessage(accountId: Id, fields: Partial<MessageRecord> = {}): Promise<MessageRecord> {
  const message = messageOf(accountId, fields);
  const { account_id, client_id, document } = message;
  const invoice = { _id: document.id, account_id, client_id, status: 'Sent' };
  if (!fields.document) await driverOf(Invoice).insertOne(invoice as never);
  await inUnit(accountId, ({ session }) => insertOwn(Message, message, session));
  return message;
}

/** Stores an issued invoice with the fields that a mail about it needs. */
export async function insertInvoice(accountId: Id, fields: object = {}): Promise<MessageRecord['document']> {
  const own = newRecord(accountId);
  const amounts = { currency: 'EUR', amount: 12_300, tax_amount: 0, amount_paid: 0 };
  const dates = { issue_date: '2026-11-01', due_date: '2099-12-31' };
  const invoice = { ...own, ...amounts, ...dates, number: 42, status: 'Sent', client_id: MAILED_CLIENT, ...fields };
  await driverOf(Invoice).insertOne(invoice as never);
  return { type: 'invoice', id: own._id, number: 'INV-0042' };
}

/** Returns the message as it is stored now. */
export async function storedMessage({ account_id, _id }: MessageRecord): Promise<MessageRecord> {
  const found = await findOwn(Message, String(account_id), _id);
  if (!found) throw new Error(`message ${String(_id)} is gone`);
  return found;
}

/** Runs work of an account in a unit of work, and returns its result. */
export async function inUnit<Result>(
  accountId: Id,
  work: (unit: UnitOfWork) => Promise<Result>,
  by: Actor = { type: 'operator' },
): Promise<Result> {
  return (await runUnitOfWork({ accountId, by }, work)).result;
}

/** Registers a mail service, so that documents can be sent. Returns nothing for a body. */
export async function setUpMail(): Promise<object> {
  await registerMailService({ from: 'billing@example.com', domain: 'mail.example.com' }, new Date());
  return {};
}

/** Returns the mail in the form in which the mail service keeps it, in one piece. */
export function wholeMail(mail: Buffer | string) {
  const bytes = Buffer.from(mail);
  return {
    size: bytes.length,
    async *read() {
      yield bytes;
    },
  };
}

/** Does what the mail service does with a queued message when the relay takes it. Returns the message after it. */
export async function sendWithoutRelay(accountId: Id, id: Id): Promise<MessageRecord> {
  return withLease(accountId, id, async (step, { leaseId, now, unit, message }) => {
    const bytes = Buffer.from(`Subject: ${message.subject}\r\nMessage-ID: ${message.message_id}\r\n\r\n`);
    await insertMailSource(await mailSourceOf(message, wholeMail(bytes), now), unit.session);
    await step({ move: 'beginSending', facts: { leaseId } });
    const attempt = { at: now, duration_ms: 12, code: '250', text: 'queued as 7' };
    return step({ move: 'accept', facts: { leaseId }, values: { settledAt: now, acceptedAt: now, attempt } });
  });
}

/** Does what the mail service does when the relay rejects a queued message, or ends the connection after its contents. */
export async function failWithoutRelay(accountId: Id, id: Id, move: 'giveUp' | 'lose'): Promise<MessageRecord> {
  return withLease(accountId, id, async (step, { leaseId, now }) => {
    await step({ move: 'beginSending', facts: { leaseId } });
    const values = move === 'giveUp' ? { settledAt: now } : { unknownAt: now, nextAt: now, dueAt: now };
    return step({ move, facts: { leaseId }, values });
  });
}

/** Acquires a queued message as a worker does, and returns it. */
export async function leased(accountId: Id, id: Id): Promise<Pick<Leased, 'message' | 'leaseId'>> {
  return inUnit(accountId, async (unit) => {
    const [leaseId, now] = [newId(), new Date(Date.now() + 1_000)];
    const found = await findOwn(Message, accountId, id, unit.session);
    const values = { leaseId, leaseUntil: new Date(now.getTime() + 60_000) };
    const message = found && (await moveMessage(unit, found, { move: 'acquire', facts: { now }, values }));
    if (!message) throw new Error(`the message ${id} is not free`);
    return { leaseId, message };
  });
}

interface Leased {
  leaseId: string;
  now: Date;
  unit: UnitOfWork;
  message: MessageRecord;
}

type Step = <Name extends MessageMove>(given: MessageStep<Name>) => Promise<MessageRecord>;

/** Acquires a queued message as a worker does. Returns the result of the work in the same unit. */
export async function withLease<Result>(
  accountId: Id,
  id: Id,
  work: (step: Step, leased: Leased) => Promise<Result>,
): Promise<Result> {
  const now = new Date(Date.now() + 1_000);
  return inUnit(accountId, async (unit) => {
    const leaseId = newId();
    const step: Step = async (given) => {
      const found = await findOwn(Message, accountId, id, unit.session);
      const moved = found && (await moveMessage(unit, found, given));
      if (!moved) throw new Error(`the message ${id} cannot ${given.move}`);
      return moved;
    };
    const leaseUntil = new Date(now.getTime() + 60_000);
    const message = await step({ move: 'acquire', facts: { now }, values: { leaseId, leaseUntil } });
    return work(step, { leaseId, now, unit, message });
  });
}
