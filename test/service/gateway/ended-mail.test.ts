// Mail about a document that is no offer or no demand any more: what may still be sent, and what is cancelled at once.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addDays, dayIn } from '#libs/day.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { leased, setUpMail } from '../../support/messages.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';
import { planReminders } from '../../support/rounds.ts';

const TODAY = dayIn('UTC');
const DAY_MS = 24 * 3_600_000;

let gateway: TestGateway;
let me: OwnAccount;
let client_id: string;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await setUpMail();
  me = await openOwnAccount(gateway, { locale: 'en-US', time_zone: 'UTC' });
  client_id = (await me.post('clients', { name: 'Ada', email: 'ada@example.com' })).id;
});

const later = (days = 1) => new Date(Date.now() + days * DAY_MS).toISOString();
const change = async (path: string, body: object) => {
  const { status, body: answer } = await me.api.patch(`/api/v1/${path}`, body);
  expect([status, answer.error]).toEqual([200, undefined]);
  return answer.data;
};
const send = (path: string, body: object = {}) => me.api.post(`/api/v1/${path}/send`, body);
const quote = async (fields: object = {}) => {
  const given = { client_id, amount: 100, currency: 'EUR', expires_at: addDays(TODAY, 30), status: 'Sent', ...fields };
  return `quotes/${(await me.post('quotes', given)).id}`;
};
const invoice = async (fields: object = {}) => {
  const given = { client_id, amount: 100, currency: 'EUR', due_date: '2099-12-31', status: 'Sent', ...fields };
  return `invoices/${(await me.post('invoices', given)).id}`;
};
const messages = () => Message.find({ account_id: me.id }).sort({ _id: 1 }).lean<MessageRecord[]>();

describe('a quote that is no offer any more', () => {
  test.each([
    ['was declined', { status: 'Declined' }, 'Cannot send QUO-0001: it is Declined', 'document_not_mailable'],
    ['was set to Expired', { status: 'Expired' }, 'Cannot send QUO-0001: it is Expired', 'document_not_mailable'],
    [
      'has expired',
      { expires_at: addDays(TODAY, -1) },
      `Cannot send QUO-0001 on ${TODAY}: it is valid until ${addDays(TODAY, -1)}`,
      'quote_not_mailable',
    ],
  ])('when it %s, then it is not mailed, and the error says why', async (_, fields, error, code) => {
    const path = await quote();
    await change(path, fields);

    const { status, body } = await send(path);

    expect([status, body.error, body.code, await messages()]).toEqual([409, error, code, []]);
  });

  test('when a draft has expired, then it is not mailed, and stays a draft', async () => {
    const path = await quote({ status: 'Draft', expires_at: addDays(TODAY, -1) });

    expect([(await send(path)).status, (await me.get(path)).status]).toEqual([409, 'Draft']);
  });

  test('when a mail is planned for a day after its last one, then the error names both days, and with a later one it is planned', async () => {
    const expires_at = addDays(TODAY, 2);
    const path = await quote({ expires_at });

    const { body } = await send(path, { send_at: later(3) });
    expect(body.error).toBe(`Cannot send QUO-0001 on ${addDays(TODAY, 3)}: it is valid until ${expires_at}`);

    await change(path, { expires_at: addDays(TODAY, 3) });
    expect((await send(path, { send_at: later(3) })).status).toBe(202);
  });

  test('when it was accepted, then a copy of it is mailed, also after its last day and after it was billed', async () => {
    const path = await quote();
    await change(path, { status: 'Accepted' });
    await change(path, { expires_at: addDays(TODAY, -1) });
    expect((await send(path)).status).toBe(202);
    await me.post(`${path}/convert`, { accept_changes: true });

    expect((await send(path)).status).toBe(202);
    expect((await messages()).map(({ state, of_accepted }) => [state, of_accepted])).toEqual([
      ['queued', true],
      ['queued', true],
    ]);
  });
});

/** An act by which a document ends, and the text that its mail keeps. */
type Act = [what: string, make: () => Promise<string>, act: (path: string) => Promise<unknown>, text: string];
const ACTS: Act[] = [
  ['a quote is declined', quote, (path) => change(path, { status: 'Declined' }), 'The quote was declined'],
  ['a quote is set to Expired', quote, (path) => change(path, { status: 'Expired' }), 'The quote has expired'],
  [
    'the last day of a quote is a past one',
    quote,
    (path) => change(path, { expires_at: addDays(TODAY, -1) }),
    'The quote has expired',
  ],
  ['a quote is a draft again', quote, (path) => change(path, { status: 'Draft' }), 'The document is a draft'],
  ['an invoice is cancelled', invoice, (path) => change(path, { status: 'Cancelled' }), 'The document is Cancelled'],
  [
    'an invoice is cancelled with a credit note',
    invoice,
    async (path) => {
      await change('account', { cancel_with_credit_note: true });
      await change(path, { status: 'Cancelled' });
    },
    'The document is Cancelled',
  ],
  [
    'an invoice that was paid in part is cancelled',
    invoice,
    async (path) => {
      await me.post(`${path}/payments`, { amount: 30 });
      await change(path, { status: 'Cancelled' });
    },
    'The document is Cancelled',
  ],
  [
    'an invoice is credited in full',
    invoice,
    (path) => me.post(`${path}/credit-notes`, { reason: 'cancellation' }),
    'The document is Cancelled',
  ],
  [
    'all of an invoice is written off',
    invoice,
    (path) => me.api.post(`/api/v1/${path}/write-off`, { reason: 'Insolvent' }),
    'The document is Cancelled',
  ],
];

test.each(ACTS)('when %s, then its mails that wait are cancelled in the same moment', async (_, make, act, text) => {
  const path = await make();
  const planned = (await send(path, { send_at: later() })).body.data.id;
  const queued = (await send(path)).body.data.id;

  await act(path);

  const found = await Promise.all([planned, queued].map((id) => me.get(`messages/${id}`)));
  expect(found.map(({ state, attempts, next_attempt_at }) => [state, attempts[0]?.text, next_attempt_at])).toEqual([
    ['cancelled', text, null],
    ['cancelled', text, null],
  ]);
  const after = await me.get(path);
  expect(after['delivery']).toMatchObject({ state: 'cancelled', last_message_id: queued });
});

/** An act that ends the mail of a quote that was planned for a later day, and leaves what goes out at once. */
const LATER: Act[] = [
  ['it is accepted', quote, (path) => change(path, { status: 'Accepted' }), 'The quote was accepted'],
  ['it is converted', quote, (path) => me.post(`${path}/convert`, { accept: true }), 'The quote was accepted'],
  [
    'its last day is moved before the mail',
    quote,
    (path) => change(path, { expires_at: addDays(TODAY, 1) }),
    `The quote is valid until ${addDays(TODAY, 1)}, and its mail was to leave later`,
  ],
];

test.each(LATER)(
  'when a mail of a quote is planned for a later day, and %s, then it is cancelled in the same moment, and what leaves today stays',
  async (_, make, act, text) => {
    const path = await make();
    const queued = (await send(path)).body.data.id;
    const planned = (await send(path, { send_at: later(3) })).body.data.id;

    await act(path);

    const found = await Promise.all([planned, queued].map((id) => me.get(`messages/${id}`)));
    expect(found.map(({ state, attempts }) => [state, attempts[0]?.text])).toEqual([
      ['cancelled', text],
      ['queued', undefined],
    ]);
    expect((await me.get(path))['delivery']).toMatchObject({ state: 'cancelled', last_message_id: planned });
  },
);

test('when the response to the act is read, then it shows the delivery that the next read shows', async () => {
  for (const [path, status] of [
    [await quote(), 'Declined'],
    [await invoice(), 'Cancelled'],
  ] as const) {
    await send(path, { send_at: later() });
    expect((await change(path, { status })).delivery.state).toBe('cancelled');
    expect(await me.get(path)).toMatchObject({ status, delivery: { state: 'cancelled' } });
  }
});

test('when a payment is voided, then its receipt is cancelled', async () => {
  const path = await invoice();
  const payment = await me.post(`${path}/payments`, { amount: 30 });
  await send(`payments/${payment['id']}`, { send_at: later() });

  await me.api.post(`/api/v1/payments/${payment['id']}/void`, { reason: 'Typing error' });

  expect((await messages()).map(({ state, attempts }) => [state, attempts[0]?.text])).toEqual([
    ['cancelled', 'The document is Voided'],
  ]);
});

test('when an invoice is paid, then its reminder is cancelled at once, its mail stays, and the step goes out when it is due again', async () => {
  await change('account', { reminders: [{ days: 3 }], remind_at: '00:00' });
  const due_date = addDays(TODAY, -10);
  const path = await invoice({ due_date });
  await planReminders(new Date(Date.now() + 1_000));
  await send(path, { send_at: later() });
  const payment = await me.post(`${path}/payments`, {});

  expect((await messages()).map(({ kind, state }) => [kind, state])).toEqual([
    ['reminder_1', 'cancelled'],
    ['invoice', 'planned'],
  ]);
  const [, planned] = await messages();
  await me.api.post(`/api/v1/messages/${String(planned?._id)}/cancel`);
  await me.api.post(`/api/v1/payments/${payment['id']}/void`, { reason: 'Typing error' });
  await planReminders(new Date(Date.now() + 2_000));
  expect((await messages()).map(({ kind, state }) => [kind, state])).toEqual([
    ['reminder_1', 'cancelled'],
    ['invoice', 'cancelled'],
    ['reminder_1', 'queued'],
  ]);
});

test('when a worker has the mail, or some of its recipients have it, then its attempt decides', async () => {
  const path = await invoice();
  const [taken, shared] = [(await send(path)).body.data.id, (await send(path)).body.data.id];
  await leased(me.id, taken);
  await Message.updateOne({ account_id: me.id, _id: shared }, { 'recipients.0.state': 'accepted' });

  await change(path, { status: 'Cancelled' });

  expect((await messages()).map(({ state }) => state)).toEqual(['queued', 'queued']);
});
