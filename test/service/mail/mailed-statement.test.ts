// The statement of account by mail: planned by a key that may read it, printed once, and the same in every attempt.
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import { addDays, dayIn } from '#libs/day.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { Original } from '#libs/models/documents/original.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { DocumentLink } from '#libs/models/portal/document-link.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type MailAttempts, openMailAttempts } from '../../support/mail-attempts.ts';
import { setUpMail } from '../../support/messages.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';
import { UNKNOWN_ID } from '../../support/records.ts';
import type { Relay } from '../../support/smtp-relay.ts';

let gateway: TestGateway;
let relay: Relay;
let attempts: MailAttempts;
let me: OwnAccount;
let client_id: string;
let printed: PrintableDocument[];

const today = dayIn('UTC');
const period = { from: addDays(today, -30), to: today };

beforeAll(async () => {
  gateway = await startGateway();
  const print = async ({ document }: { document: PrintableDocument }) => {
    printed.push(document);
    return { bytes: Buffer.from(`%PDF-1.7\n% print ${printed.length}\n%%EOF\n`), warnings: [] };
  };
  attempts = await openMailAttempts(gateway.workspace, print);
  relay = attempts.relay;
});
afterAll(async () => {
  await attempts.close();
  await gateway.close();
});
beforeEach(async () => {
  await setUpMail();
  printed = [];
  me = await openOwnAccount(gateway, { company: 'Studio North', locale: 'en-US', time_zone: 'UTC', currency: 'EUR' });
  client_id = (await me.post('clients', { name: 'Ada', email: 'ada@example.com' })).id;
});
afterEach(() => {
  relay.behave({});
  relay.taken.length = 0;
});

const attempt = (messageId: string) => attempts.attempt(me.id, messageId);
const owe = () =>
  me.post('invoices', { client_id, amount: 119, currency: 'EUR', due_date: '2099-12-31', status: 'Sent' });
const pay = (amount: number) => me.post('payments', { client_id, amount, currency: 'EUR', method: 'cash' });
const send = (body: object = {}, call: object = {}) =>
  me.api.post(`/api/v1/clients/${client_id}/statements/send`, { period, ...body }, call);
const messages = () => Message.find({ account_id: me.id }).sort({ _id: 1 }).lean<MessageRecord[]>();
const keyOf = async (scopes: readonly string[]) => (await me.post('keys', { name: 'x', scopes })).key as string;
const READS = ['invoices:read', 'payments:read', 'credit-notes:read'];

async function attemptUntilSettled(id: string) {
  const isWaiting = async () => (await messages()).some((one) => String(one._id) === id && one.state === 'queued');
  do await attempt(id);
  while (await isWaiting());
}

describe('a statement that is sent', () => {
  test('when the mail server defers it and something is booked, then each attempt has the same mail, which is kept with its PDF', async () => {
    await owe();
    const sent = await send({ include_link: true });
    expect([sent.status, sent.body.data]).toMatchObject([
      202,
      {
        kind: 'statement',
        document: { type: 'statement', id: client_id, number: `statement-${period.from}-${period.to}` },
        client: { id: client_id },
        subject: expect.stringMatching(/^Statement of account from Studio North: .+ – .+$/),
        state: 'queued',
        period,
      },
    ]);
    const { id } = sent.body.data;
    relay.behave({ onRecipient: () => '451 4.7.1 Greylisted' });
    await attempt(id);
    relay.behave({});
    await pay(100);

    await attemptUntilSettled(id);

    const message = await me.get(`messages/${id}`);
    const [taken] = relay.taken;
    const mail = await simpleParser(taken?.source ?? '');
    const [file, ...others] = mail.attachments;
    expect([message.state, relay.taken.length, printed.length, others]).toEqual(['accepted', 1, 1, []]);
    const sha256 = createHash('sha256')
      .update(file?.content ?? '')
      .digest('hex');
    expect(message.attachments).toEqual([
      { name: `statement-${period.from}-${period.to}.pdf`, bytes: file?.content.length, sha256 },
    ]);
    expect(mail.text).toContain('The closing balance is €119.00.');
    expect(printed[0]?.statement).toMatchObject({ ...period, statements: [{ currency: 'EUR', closing: 119 }] });
    const source = await me.api.get(`/api/v1/messages/${id}/source`);
    expect(String(source.body)).toBe(String(taken?.source));
    // It is no document of its own: the mail has the only copy.
    expect(await Original.countDocuments({ account_id: me.id })).toBe(0);
    // Its page shows the statement, and everything that its maker may show.
    expect(mail.text).toContain('https://portal.example.com/p/');
    expect(await DocumentLink.findOne({ account_id: me.id }).lean()).toMatchObject({
      subject_type: 'client',
      show_statement: true,
      show_time: false,
      message_id: expect.anything(),
    });

    const again = await me.api.post(`/api/v1/messages/${id}/resend`, {});
    await attemptUntilSettled(again.body.data.id);
    const second = await simpleParser(relay.taken[1]?.source ?? '');
    expect([again.status, again.body.data.resend_of, again.body.data.period, printed.length]).toEqual([
      202,
      id,
      period,
      2,
    ]);
    expect(second.text).toContain('The closing balance is €19.00.');
  });

  test('when its client gets another address after it was made, then another one is made for that address', async () => {
    await owe();
    const { id } = (await send()).body.data;
    relay.behave({ onRecipient: () => '451 4.7.1 Greylisted' });
    await attempt(id);
    relay.behave({});
    expect((await me.api.patch(`/api/v1/clients/${client_id}`, { email: 'new@example.com' })).status).toBe(200);

    await attemptUntilSettled(id);
    for (const { _id, state } of await messages()) if (state === 'queued') await attemptUntilSettled(String(_id));

    expect(relay.taken.map(({ to }) => to)).toEqual([['new@example.com']]);
    expect((await messages()).map(({ kind, period: days }) => [kind, days])).toEqual([
      ['statement', period],
      ['statement', period],
    ]);
  });

  test('when nothing is attached or booked, then the mail says that nothing is owed, and speaks of no attachment', async () => {
    const { id } = (await send({ attach_pdf: false, subject: 'Up to {to}: {balance}' })).body.data;
    await attemptUntilSettled(id);
    const mail = await simpleParser(relay.taken[0]?.source ?? '');
    expect([mail.subject, mail.attachments, printed]).toEqual([expect.stringMatching(/^Up to .+: €0\.00$/), [], []]);
    expect(mail.text).toMatch(/your account closes with a balance of €0\.00/);
    expect(mail.text).not.toContain('attached');
  });

  test('when its client is anonymised or deleted before it leaves, then nothing leaves', async () => {
    const { id } = (await send()).body.data;
    expect((await me.api.post(`/api/v1/clients/${client_id}/anonymise`, {})).status).toBe(200);
    expect(await me.get(`messages/${id}`)).toMatchObject({ state: 'cancelled', subject: '' });
    client_id = (await me.post('clients', { name: 'Bea', email: 'bea@example.com' })).id;
    const { id: second } = (await send()).body.data;
    expect((await me.api.delete(`/api/v1/clients/${client_id}`)).status).toBe(200);
    await attempt(second);
    expect([(await me.get(`messages/${second}`)).state, relay.taken]).toEqual(['cancelled', []]);
  });
});

describe('a request to send one', () => {
  test('when it comes twice with one key, then there is one message; a planned one can be cancelled', async () => {
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const once = () => send({ send_at }, { headers: { 'Idempotency-Key': 'statement-of-november' } });
    const [first, second] = [await once(), await once()];
    expect(second.body).toEqual(first.body);
    expect((await messages()).map(({ state }) => state)).toEqual(['planned']);
    const cancelled = await me.api.post(`/api/v1/messages/${first.body.data.id}/cancel`, {});
    expect([cancelled.status, cancelled.body.data.state]).toEqual([200, 'cancelled']);
  });

  test('when several things are wrong, then all of them are said at once, on the calendar of the account', async () => {
    const { status, body } = await send({
      period: { from: '2031-02-03', to: '2031-02-02' },
      message: 'Hello {number}',
      to: ['not an address'],
    });
    expect([status, body.error, body.details]).toEqual([
      400,
      'Validation failed',
      {
        'period.from': ['period.from must not be after period.to'],
        'period.to': [expect.stringMatching(/must not be after/)],
        message: [expect.stringContaining('{number}')],
        'to.0': [expect.any(String)],
      },
    ]);
    const zone = await openOwnAccount(gateway, { time_zone: 'Pacific/Kiritimati' });
    const { id } = await zone.post('clients', { name: 'Ada', email: 'ada@example.com' });
    const to = dayIn('Pacific/Kiritimati');
    const ending = async (day: string) =>
      (await zone.api.post(`/api/v1/clients/${id}/statements/send`, { period: { from: to, to: day } })).status;
    expect([await ending(to), await ending(addDays(to, 1))]).toEqual([202, 400]);
    expect((await me.api.post(`/api/v1/clients/${UNKNOWN_ID}/statements/send`, { period })).status).toBe(404);
  });

  test('when a key may not read what the statement shows, then it sends none, reads none and sends none again', async () => {
    await owe();
    const { id } = (await send()).body.data;
    await attemptUntilSettled(id);
    for (const lacking of READS) {
      const scopes = ['messages:read', 'messages:write', ...READS.filter((one) => one !== lacking)];
      const key = await keyOf(scopes);
      const error = `Forbidden: API key lacks the ${lacking} scope`;
      const replies = [
        await send({}, { key }),
        await me.api.post(`/api/v1/messages/${id}/resend`, {}, { key }),
        await me.api.get(`/api/v1/messages/${id}/source`, { key }),
      ];
      expect(replies.map(({ status, body }) => [status, body.error])).toEqual(
        [403, 403, 403].map((one) => [one, error]),
      );
    }
    // A link shows more than the statement.
    const key = await keyOf(['messages:write', ...READS]);
    const linked = await send({ include_link: true }, { key });
    expect([linked.status, (await send({}, { key })).status]).toEqual([403, 202]);
    const [latest] = (await messages()).toReversed();
    expect(latest).not.toHaveProperty('link');
  });

  test('when the address is suppressed, or there is none, then 409', async () => {
    const message_id = (await send()).body.data.id;
    await me.api.post('/api/v1/messages/bounces', { message_id, recipient: 'ada@example.com', kind: 'hard' });
    const refused = await send();
    await me.api.patch('/api/v1/account', { require_client_email: false });
    client_id = (await me.post('clients', { name: 'Bea' })).id;
    expect([refused.status, refused.body.code, (await send()).status]).toEqual([409, 'recipient_suppressed', 409]);
  });
});
