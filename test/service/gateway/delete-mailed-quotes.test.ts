// Deleting a quote that was mailed, and then its client: nothing is left that names the client.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { moveMessage } from '#libs/billing/messages/move-message.ts';
import { Question } from '#libs/models/answers/question.ts';
import { QuoteEvidence } from '#libs/models/answers/quote-evidence.ts';
import { findOriginal, keepOriginal } from '#libs/models/documents/original.ts';
import { MailSource } from '#libs/models/messages/mail-source.ts';
import { Message } from '#libs/models/messages/message.ts';
import { Suppression } from '#libs/models/messages/suppression.ts';
import { driverOf } from '#libs/models/records.ts';
import { REMOVED_MAX } from '#libs/models/remove-records.ts';
import { storedId } from '#libs/models/tenant.ts';
import { accept, ask } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { failWithoutRelay, inUnit, leased, messageOf, sendWithoutRelay, setUpMail } from '../../support/messages.ts';
import { type AnyRecord, create, createClient } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

const PERSON = { name: 'Zora Quillfeather', email: 'zora@quillfeather.example' };

let gateway: TestGateway;
let account: TestAccount;
let client: AnyRecord;
beforeAll(async () => {
  gateway = await startGateway();
  await setUpMail();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await gateway.workspace.account();
  client = await createClient(gateway, PERSON, account);
});

const get = async (path: string) => (await gateway.get(`/api/v1/${path}`, account)).body.data;
const post = async (path: string, body: object = {}) =>
  (await gateway.post(`/api/v1/${path}`, body, account)).body.data;
const patch = (path: string, body: object) => gateway.patch(`/api/v1/${path}`, body, account);
const remove = async (path: string) => (await gateway.delete(`/api/v1/${path}`, account)).status;
const quoted = () => create(gateway, '/api/v1/quotes', { client_id: client.id, amount: 100, status: 'Sent' }, account);
/** Returns the number of records of the account in each collection. */
const left = async () => {
  const own = { account_id: storedId(account.id) } as object;
  const counts = [Message, MailSource, Question, QuoteEvidence, Suppression].map(async (records) => [
    records.modelName,
    await driverOf(records).countDocuments(own),
  ]);
  return Object.fromEntries(await Promise.all(counts));
};
const NOTHING = { Message: 0, MailSource: 0, Question: 0, QuoteEvidence: 0, Suppression: 0 };

/** Mails the quote, asks about it, and lets the mail bounce. */
async function mailedQuote(): Promise<AnyRecord> {
  const quote = await quoted();
  const { id } = await post(`quotes/${quote.id}/send`, { subject: 'For Zora', message: 'Dear Zora' });
  await sendWithoutRelay(account.id, id);
  await ask(account.id, { type: 'quote', id: quote.id, text: 'Will Zora get it?' });
  await post('messages/bounces', { message_id: id, recipient: PERSON.email, kind: 'hard', text: 'no Zora' });
  return quote;
}

test('when a quote that was mailed is deleted, then its messages, their mails and its questions go, and the address stays suppressed', async () => {
  const [quote, other] = [await mailedQuote(), await quoted()];
  await ask(account.id, { type: 'quote', id: other.id, text: 'And this one?' });
  expect(await left()).toEqual({ ...NOTHING, Message: 1, MailSource: 1, Question: 2, Suppression: 1 });
  await patch(`quotes/${quote.id}`, { status: 'Draft' });
  expect(await remove(`quotes/${quote.id}`)).toBe(200);
  expect(await left()).toEqual({ ...NOTHING, Question: 1, Suppression: 1 });
  expect(await get('questions')).toMatchObject([{ document: { id: other.id } }]);
});

test('when a quote and then its client are deleted, then no message, question or suppressed address is left', async () => {
  const quote = await mailedQuote();
  await patch(`quotes/${quote.id}`, { status: 'Draft' });
  expect([await remove(`quotes/${quote.id}`), await remove(`clients/${client.id}`)]).toEqual([200, 200]);
  expect(await left()).toEqual(NOTHING);
});

test('when a client is deleted whose quote is of another client now, then that quote keeps nothing that names it', async () => {
  const quote = await mailedQuote();
  await accept(gateway.workspace, account.id, quote.id, { name: PERSON.name });
  const { id: client_id } = await createClient(gateway, { name: 'Grace' }, account);
  await patch(`quotes/${quote.id}`, { status: 'Draft' });
  expect((await patch(`quotes/${quote.id}`, { client_id })).status).toBe(200);
  expect(await remove(`clients/${client.id}`)).toBe(200);

  expect(await left()).toEqual({ ...NOTHING, Message: 1, Question: 1 });
  for (const path of ['messages', 'questions', `quotes/${quote.id}`])
    expect(JSON.stringify(await get(path))).not.toMatch(/zora|quillfeather/i);
});

test('when a quote that was printed for one client is given to another, then no original names the first', async () => {
  const quote = await quoted();
  const ids = { documentId: storedId(quote.id), clientId: storedId(client.id) };
  const version = { kind: 'quote', ...ids, content: 'as it was sent' } as const;
  await keepOriginal(account.id, version, { bytes: Buffer.from('%PDF for Zora'), warnings: [] }, undefined);
  expect(await findOriginal(account.id, version)).toBeDefined();
  const { id: client_id } = await createClient(gateway, { name: 'Grace' }, account);

  await patch(`quotes/${quote.id}`, { status: 'Draft' });
  expect(await findOriginal(account.id, version)).toBeDefined();
  expect((await patch(`quotes/${quote.id}`, { client_id })).status).toBe(200);

  expect(await findOriginal(account.id, version)).toBeUndefined();
});

test('when a mail of a deleted quote waits, has a worker or is being sent, then it never leaves, and nothing of it is kept', async () => {
  const quote = await quoted();
  const [waiting, held, sending, unknown] = [
    await post(`quotes/${quote.id}/send`, { send_at: new Date(Date.now() + 3_600_000) }),
    await post(`quotes/${quote.id}/send`),
    await post(`quotes/${quote.id}/send`),
    await post(`quotes/${quote.id}/send`),
  ];
  await failWithoutRelay(account.id, unknown.id, 'lose');
  const [first, second] = [await leased(account.id, held.id), await leased(account.id, sending.id)];
  const begin = ({ message, leaseId }: typeof first) =>
    inUnit(account.id, (unit) => moveMessage(unit, message, { move: 'beginSending', facts: { leaseId } }));
  const leaving = await begin(second);
  expect(leaving).toMatchObject({ state: 'sending' });
  await patch(`quotes/${quote.id}`, { status: 'Draft' });
  expect(await remove(`quotes/${quote.id}`)).toBe(200);

  expect(await begin(first)).toBeUndefined();
  const now = new Date();
  const accepted = { settledAt: now, acceptedAt: now, attempt: { at: now, code: '250', text: 'queued' } };
  const ended = await inUnit(account.id, (unit) =>
    moveMessage(unit, leaving ?? second.message, {
      move: 'accept',
      facts: { leaseId: second.leaseId },
      values: accepted,
    }),
  );
  expect(ended).toBeUndefined();
  expect(await left()).toEqual(NOTHING);
  expect((await gateway.get(`/api/v1/messages/${waiting.id}`, account)).status).toBe(404);
});

test('when a quote has more messages than one transaction removes, then it stays with all of them', async () => {
  const quote = await create(gateway, '/api/v1/quotes', { client_id: client.id, amount: 100 }, account);
  const document = { type: 'quote', id: storedId(quote.id), number: quote.quote_number } as const;
  const many = Array.from({ length: REMOVED_MAX + 1 }, () => messageOf(account.id, { document, state: 'accepted' }));
  await driverOf(Message).insertMany(many);
  const reply = await gateway.delete(`/api/v1/quotes/${quote.id}`, account);
  expect([reply.status, reply.body.code]).toEqual([409, 'quote_too_large']);
  expect(await left()).toEqual({ ...NOTHING, Message: REMOVED_MAX + 1 });

  await driverOf(Message).deleteOne({ account_id: storedId(account.id) });
  expect(await remove(`quotes/${quote.id}`)).toBe(200);
  expect(await left()).toEqual(NOTHING);
});
