// Messages in a real database: moves with their guards, the delivery that documents show, kept mails, and erasure.
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type MessageStep, moveMessage, moveRecipient, showDelivery } from '#libs/billing/messages/move-message.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { findMailService, registerMailService, unregisterMailService } from '#libs/models/messages/mail-service.ts';
import {
  findExpiredMailSources,
  findMailSource,
  insertMailSource,
  MAIL_KEPT_MS,
  MailSource,
  mailSourceOf,
  removeMailSources,
} from '#libs/models/messages/mail-source.ts';
import type { MessageRecord } from '#libs/models/messages/message.ts';
import type { MessageMove } from '#libs/models/messages/message-states.ts';
import { Suppression, suppressedOf } from '#libs/models/messages/suppression.ts';
import { driverOf, findOwn, insertOwn } from '#libs/models/records.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { insertMessage, inUnit, storedMessage, wholeMail } from '../../support/messages.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';

let gateway: TestGateway;
let account: OwnAccount;
const now = new Date();
const later = new Date(now.getTime() + 60_000);

beforeAll(async () => {
  gateway = await startGateway();
  account = await openOwnAccount(gateway);
});
afterAll(() => gateway.close());

describe('a move', () => {
  test('when two workers take one message, then one has it, and only that one ends it', async () => {
    const message = await insertMessage(account.id);
    const acquire = (leaseId: string) =>
      inUnit(account.id, (unit) =>
        moveMessage(unit, message, {
          move: 'acquire',
          facts: { now: later },
          values: { leaseId, leaseUntil: new Date(later.getTime() + 60_000) },
        }),
      );
    const taken = [await acquire('one'), await acquire('two')];
    expect(taken.map((found) => found?.lease_id)).toEqual(['one', undefined]);

    const end = (leaseId: string) =>
      inUnit(account.id, (unit) =>
        moveMessage(unit, message, { move: 'giveUp', facts: { leaseId }, values: { settledAt: now } }),
      );
    expect([await end('two'), (await end('one'))?.state]).toEqual([undefined, 'failed']);
    expect((await storedMessage(message)).recipients).toMatchObject([{ state: 'failed' }]);
  });

  test('when a message goes out once only, then a second one for the same reason is a duplicate', async () => {
    const once = `reminder/${account.id}/1`;
    await insertMessage(account.id, { once });
    const second = await insertMessage(account.id, { once }).catch((error: unknown) => error);
    expect(isDuplicate(second, 'messages')).toBe(true);
  });

  test('when a recipient of an invoice bounces, then the invoice shows it, and one by one', async () => {
    const { id: client_id } = await account.post('clients', { name: 'Ada', email: 'ada@example.com' });
    const { id } = await account.post('invoices', { client_id, amount: 10, due_date: '2099-12-31' });
    expect((await account.get(`invoices/${id}`))['delivery']).toBeNull();
    const message = await insertMessage(account.id, {
      document: { type: 'invoice', id: storedId(id), number: 'INV-0001' },
      recipients: ['a', 'b'].map((name) => ({ address: `${name}@example.com`, role: 'to', state: 'accepted' })),
      state: 'accepted',
      settled_at: now,
    });
    await inUnit(account.id, (unit) => showDelivery(unit, message, { isLast: true }));
    const outcome = { index: 1, move: 'bounce', code: '550 5.1.1', text: 'no such user', at: now } as const;
    await inUnit(account.id, (unit) => moveRecipient(unit, message, outcome));
    expect((await account.get(`invoices/${id}`))['delivery']).toEqual({
      state: 'bounced',
      last_message_id: String(message._id),
      at: expect.any(String),
    });
    // An older message does not change what the last one shows.
    const older = await insertMessage(account.id, { document: message.document });
    await inUnit(account.id, (unit) => showDelivery(unit, older));
    expect(await findOwn(Invoice, account.id, id)).toMatchObject({ delivery: { message_id: message._id } });
  });
});

describe('the mail as it is sent', () => {
  test('when it is kept, then it is read back byte for byte, once for each message, and removed after its time', async () => {
    const message = await insertMessage(account.id);
    const bytes = Buffer.from(`Subject: x\r\n\r\n${'mail '.repeat(2_000)}`);
    const source = await mailSourceOf(message, wholeMail(bytes), now);
    await inUnit(account.id, ({ session }) => insertMailSource(source, session));
    expect(source.bytes.length).toBeLessThan(bytes.length / 10);
    expect(await findMailSource(account.id, message._id)).toEqual(bytes);
    const again = await inUnit(account.id, ({ session }) => insertMailSource(source, session)).catch(isDuplicate);
    expect(again).toBe(true);

    expect(await findExpiredMailSources(now, 10)).toEqual([]);
    const expired = await findExpiredMailSources(new Date(now.getTime() + MAIL_KEPT_MS), 10);
    expect(expired.map(({ _id }) => String(_id))).toEqual([String(message._id)]);
    await removeMailSources(
      account.id,
      expired.map(({ _id }) => _id),
    );
    expect(await findMailSource(account.id, message._id)).toBeUndefined();
  });
});

test('when the mail service starts, then mail is set up, and no longer once it is taken away', async () => {
  expect(await findMailService()).toBeUndefined();
  await registerMailService({ from: 'billing@example.com', domain: 'example.com' }, now);
  await registerMailService({ from: 'mail@example.com', domain: 'example.com' }, later);
  expect(await findMailService()).toMatchObject({ from: 'mail@example.com', started_at: later });
  await unregisterMailService();
  expect(await findMailService()).toBeUndefined();
});

test('when a client is anonymised, then its messages keep no address and no text, and those that have not left never do', async () => {
  const { id } = await account.post('clients', { name: 'Ada', email: 'ada@example.com' });
  const client_id = storedId(id);
  const leased = { lease_id: 'a worker', lease_until: new Date(Date.now() + 60_000) };
  const queued = await insertMessage(account.id, { client_id, ...leased });
  const recipients = [
    { address: 'ada@alone.example', role: 'to', state: 'bounced', text: '<ada@alone.example> unknown' },
  ] as const;
  const bounced = await insertMessage(account.id, { client_id, state: 'accepted', recipients: [...recipients] });
  const suppression = {
    ...newRecord(account.id),
    address: 'ada@alone.example',
    reason: 'bounce',
    message_id: bounced._id,
    client_id,
  } as const;
  await inUnit(account.id, async ({ session }) => {
    await insertOwn(Suppression, suppression, session);
    await insertMailSource(await mailSourceOf(bounced, wholeMail('To: ada@example.com'), now), session);
  });
  const foreign = await insertMessage(account.id);

  expect((await account.api.post(`/api/v1/clients/${id}/anonymise`)).status).toBe(200);
  for (const message of [queued, bounced]) {
    expect(JSON.stringify(await storedMessage(message))).not.toMatch(/ada@|is attached|unknown/i);
    expect(await findMailSource(account.id, message._id)).toBeUndefined();
  }
  expect(await storedMessage(queued)).toMatchObject({ state: 'cancelled', recipients: [{ state: 'cancelled' }] });
  expect(await suppressedOf(account.id, ['ada@alone.example'])).toEqual(new Set());
  expect(await storedMessage(foreign)).toMatchObject({ state: 'queued', recipients: [{ address: 'ada@example.com' }] });
  // The worker that had it cannot go on.
  const sent = await inUnit(account.id, (unit) =>
    moveMessage(unit, queued, { move: 'beginSending', facts: { leaseId: 'a worker' } }),
  );
  expect(sent).toBeUndefined();
});

describe('a message that is being sent while its client is anonymised', () => {
  const text = '<ada@example.com> unknown';
  const leaseId = 'a worker';
  const attempt = { at: now, code: '550 5.1.1', text };
  const refused = [{ index: 0, move: 'refuse', at: now, code: '550 5.1.1', text }] as const;
  const again = { nextAt: now, dueAt: now, attempt };
  const facts = { leaseId, now };

  /** Returns the message as its worker has read it. */
  async function sendingToErased(fields: Partial<MessageRecord> = {}): Promise<MessageRecord> {
    const { id } = await account.post('clients', { name: 'Ada', email: 'ada@example.com' });
    const own = { client_id: storedId(id), state: 'sending', lease_id: leaseId, lease_until: later } as const;
    const recipients = [{ address: 'ada@example.com', role: 'to', state: 'sending' } as const];
    const message = await insertMessage(account.id, { ...own, recipients, ...fields });
    expect((await account.api.post(`/api/v1/clients/${id}/anonymise`)).status).toBe(200);
    expect(await storedMessage(message)).toMatchObject({ state: 'sending', erased_at: expect.any(Date) });
    return message;
  }

  const step = <Name extends MessageMove>(message: MessageRecord, given: MessageStep<Name>) =>
    inUnit(account.id, (unit) => moveMessage(unit, message, given));

  test('when the server rejects it, then neither the record nor the event keeps its words', async () => {
    const message = await sendingToErased();
    const values = { settledAt: now, attempt };
    await step(message, { move: 'giveUp', facts, values, outcomes: refused });

    const stored = await storedMessage(message);
    expect(stored).toMatchObject({
      state: 'failed',
      attempts: [{ code: '550 5.1.1' }],
      recipients: [{ state: 'failed' }],
    });
    const event = await Event.findOne({ account_id: account.id, type: 'message.failed' }).sort({ sequence: -1 }).lean();
    expect(event?.body).toContain(String(message._id));
    expect(JSON.stringify([stored, event])).not.toMatch(/ada@/i);
  });

  test('when the server takes it, then it is accepted', async () => {
    const message = await sendingToErased();
    await step(message, { move: 'accept', facts, values: { settledAt: now, acceptedAt: now, attempt } });

    expect(await storedMessage(message)).toMatchObject({ state: 'accepted', recipients: [{ state: 'accepted' }] });
  });

  test.each<[string, MessageStep<'retryLater' | 'lose' | 'loseAbandoned'>]>([
    ['defers it', { move: 'retryLater', facts, values: again }],
    ['does not answer', { move: 'lose', facts, values: { ...again, unknownAt: now } }],
    ['has not answered when the worker dies', { move: 'loseAbandoned', facts, values: { ...again, unknownAt: now } }],
  ])('when the server %s, then it is cancelled and never sent again', async (_name, given) => {
    const isDead = given.move === 'loseAbandoned';
    const message = await sendingToErased(isDead ? { lease_until: new Date(now.getTime() - 1) } : {});
    expect(await step(message, given)).toBeUndefined();

    const stored = await storedMessage(message);
    expect(stored).toMatchObject({ state: 'cancelled', recipients: [{ state: 'cancelled' }] });
    expect(stored).not.toHaveProperty('due_at');
    expect(JSON.stringify(stored)).not.toMatch(/ada@/i);
    const values = { leaseId: 'another worker', leaseUntil: later, dueAt: later };
    for (const move of ['acquire', 'acquireUnknown'] as const)
      expect(await step(stored, { move, facts: { now: later }, values })).toBeUndefined();
  });

  test('when its mail was made after the mails to the client were removed, then it is removed, too', async () => {
    const sources = driverOf(MailSource);
    const find = sources.find.bind(sources);
    const { id } = await account.post('clients', { name: 'Ada', email: 'ada@example.com' });
    const message = await insertMessage(account.id, { client_id: storedId(id) });
    const source = await mailSourceOf(message, wholeMail('To: ada@example.com'), now);
    jest.spyOn(sources, 'find').mockImplementationOnce((filter, options) => {
      const cursor = find(filter as object, options);
      const toArray = cursor.toArray.bind(cursor);
      cursor.toArray = async () => {
        const found = await toArray();
        await inUnit(account.id, ({ session }) => insertMailSource(source, session));
        return found;
      };
      return cursor;
    });

    expect((await account.api.post(`/api/v1/clients/${id}/anonymise`)).status).toBe(200);
    expect(await sources.countDocuments({ _id: message._id })).toBe(0);
  });
});
