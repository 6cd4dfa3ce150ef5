// A mail that waits at a mail server while its document changes: what leaves in the end is what the document says then.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import { planMessage } from '#libs/billing/messages/plan-message.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { Question } from '#libs/models/answers/question.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { findOwn } from '#libs/models/records.ts';
import { newRecord, storedId } from '#libs/models/tenant.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type MailAttempts, openMailAttempts } from '../../support/mail-attempts.ts';
import { inUnit, setUpMail } from '../../support/messages.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';
import { planReminders } from '../../support/rounds.ts';
import type { Relay } from '../../support/smtp-relay.ts';

let gateway: TestGateway;
let relay: Relay;
let mailAttempts: MailAttempts;
let me: OwnAccount;
let client_id: string;
/** The sums on the PDF of each print. */
let printed: number[];

const print = async ({ document }: { document: { amount?: number } }) => {
  printed.push(document.amount ?? 0);
  return { bytes: Buffer.from(`%PDF-1.7\n% ${document.amount}\n%%EOF\n`), warnings: [] };
};

beforeAll(async () => {
  gateway = await startGateway();
  mailAttempts = await openMailAttempts(gateway.workspace, print);
  relay = mailAttempts.relay;
});
afterAll(async () => {
  await mailAttempts.close();
  await gateway.close();
});
beforeEach(async () => {
  await setUpMail();
  printed = [];
  me = await openOwnAccount(gateway, { locale: 'en-US', time_zone: 'UTC' });
  client_id = (await me.post('clients', { name: 'Ada', email: 'ada@example.com' })).id;
});
afterEach(() => {
  relay.behave({});
  relay.taken.length = 0;
});

const attempt = (messageId: string) => mailAttempts.attempt(me.id, messageId);
const messages = () => Message.find({ account_id: me.id }).sort({ _id: 1 }).lean<MessageRecord[]>();
const change = async (path: string, body: object) =>
  expect((await me.api.patch(`/api/v1/${path}`, body)).body.error).toBeUndefined();
const send = async (path: string, body: object = {}) =>
  expect((await me.api.post(`/api/v1/${path}/send`, body)).status).toBe(202);
const quote = () => me.post('quotes', { client_id, amount: 100, currency: 'EUR', expires_at: '2099-06-30' });
const invoice = (fields: object = {}) =>
  me.post('invoices', { client_id, amount: 100, currency: 'EUR', due_date: '2099-12-31', ...fields });

/** Makes one attempt with each message that waits. */
async function attempts() {
  for (const { _id, state } of await messages()) if (state === 'queued') await attempt(String(_id));
}
/** Makes attempts until no message waits. */
async function allAttempts() {
  do await attempts();
  while ((await messages()).some(({ state }) => state === 'queued'));
}
/** The mail server defers the first attempt, as many do with a sender that they do not know. */
async function deferred() {
  relay.behave({ onRecipient: () => '451 4.7.1 Greylisted' });
  await attempts();
  relay.behave({});
  expect((await messages()).map(({ state, attempts_made }) => [state, attempts_made])).toEqual([['queued', 1]]);
}
const taken = () => Promise.all(relay.taken.map(({ source }) => simpleParser(source)));
const states = async () => (await messages()).map(({ state }) => state);

test.each([
  ['with its PDF', {}],
  ['without its PDF', { attach_pdf: false }],
])('when a quote is a draft again before its mail is made, %s, then nothing leaves', async (_, body) => {
  const { id } = await quote();
  await send(`quotes/${id}`, body);
  await change(`quotes/${id}`, { status: 'Draft' });

  await allAttempts();

  expect([await states(), relay.taken]).toEqual([['cancelled'], []]);
});

test('when a quote is a draft again after its mail was deferred, then nothing leaves', async () => {
  const { id } = await quote();
  await send(`quotes/${id}`);
  await deferred();
  await change(`quotes/${id}`, { status: 'Draft' });

  await allAttempts();

  expect([await states(), relay.taken]).toEqual([['cancelled'], []]);
  const [message] = await messages();
  const again = await me.api.post(`/api/v1/messages/${String(message?._id)}/resend`, {});
  expect([again.status, again.body.error]).toEqual([409, 'Cannot send QUO-0001: it is Draft']);
});

test('when a quote is a draft again, then the answer to a question about it is mailed all the same', async () => {
  const { id } = await quote();
  await change(`quotes/${id}`, { status: 'Sent' });
  const { body } = await me.api.post(`/api/v1/quotes/${id}/links`, {});
  const asked = newRecord(me.id);
  await Question.collection.insertOne({
    ...asked,
    document: { type: 'quote', id: storedId(id), number: 'QUO-0001' },
    client_id: storedId(client_id),
    text: 'Cheaper?',
    status: 'open',
    link_id: storedId(body.data.id),
  } as never);
  await change(`quotes/${id}`, { status: 'Draft' });
  await me.api.post(`/api/v1/questions/${String(asked._id)}/answer`, { answer: 'We are working on it.' });

  await allAttempts();

  expect(await states()).toEqual(['accepted']);
});

type Case = [
  what: string,
  make: () => Promise<string>,
  meanwhile: (path: string) => Promise<unknown>,
  shown: { before: RegExp; after: RegExp; pdf?: number },
];
test.each<Case>([
  [
    'the price of a quote',
    async () => `quotes/${(await quote()).id}`,
    (path) => change(path, { amount: 80 }),
    { before: /€100\.00/, after: /over €80\.00/, pdf: 80 },
  ],
  [
    'the last day of a quote',
    async () => `quotes/${(await quote()).id}`,
    (path) => change(path, { expires_at: '2099-07-31' }),
    { before: /June 30, 2099/, after: /July 31, 2099/ },
  ],
  [
    'the due date of an invoice',
    async () => `invoices/${(await invoice()).id}`,
    (path) => change(path, { due_date: '2099-11-30' }),
    { before: /December 31, 2099/, after: /November 30, 2099/ },
  ],
  [
    'what is due of an invoice',
    async () => `invoices/${(await invoice()).id}`,
    (path) => me.post(`${path}/payments`, { amount: 30 }),
    { before: /€100\.00 is due/, after: /€70\.00 is due/ },
  ],
])(
  'when %s changes after its mail was deferred, then the mail is made anew, and leaves once',
  async (_, make, meanwhile, { before, after, pdf }) => {
    const path = await make();
    await send(path, { cc: ['bob@example.com'] });
    await deferred();
    await meanwhile(path);

    await allAttempts();

    const [mail, ...others] = await taken();
    expect(others).toEqual([]);
    expect(mail?.text?.replaceAll('*', '')).toMatch(after);
    expect(mail?.text).not.toMatch(before);
    if (pdf) expect(mail?.attachments[0]?.content.toString()).toContain(`% ${pdf}\n`);
    const [first, second] = await messages();
    expect([await states(), first?.attempts.at(-1)?.text]).toEqual([
      ['cancelled', 'accepted'],
      'The document was changed after the mail was made',
    ]);
    expect(second?.recipients.map(({ address }) => address)).toEqual(['ada@example.com', 'bob@example.com']);
    const { delivery } = await me.get(path);
    expect(delivery).toMatchObject({ state: 'accepted', last_message_id: String(second?._id) });
  },
);

test('when a payment is refunded after its receipt was deferred, then the receipt is made anew, once', async () => {
  await change('account', { receipts: true });
  const { id } = await invoice({ status: 'Sent' });
  const payment = await me.post(`invoices/${id}/payments`, { amount: 100 });
  await deferred();
  await me.api.post(`/api/v1/payments/${payment.id}/refunds`, { amount: 40, invoice_id: id });

  await allAttempts();

  const [first, second] = await messages();
  expect([await states(), relay.taken.length, first?.once, second?.once]).toEqual([
    ['cancelled', 'accepted'],
    1,
    undefined,
    `receipt/${payment.id}`,
  ]);
});

test.each([
  ['declined', { status: 'Declined' }],
  ['changed to end in the past', { expires_at: '2020-01-01' }],
])('when a quote is %s while an attempt with its mail is made, then nothing leaves', async (_, answer) => {
  const { id } = await quote();
  await send(`quotes/${id}`);
  // The last look at the quote comes after the recipients.
  let isAnswered = false;
  relay.behave({
    onRecipient: async () => {
      if (!isAnswered) await change(`quotes/${id}`, answer);
      isAnswered = true;
      return undefined;
    },
  });

  await allAttempts();

  expect([await states(), relay.taken]).toEqual([['cancelled'], []]);
});

test('when the account changes its name and the address for replies before a mail is made, then the mail has the new ones', async () => {
  await change('account', { company: 'South', email: 'old@south.example' });
  await send(`invoices/${(await invoice()).id}`);
  await change('account', { mail: { from_name: 'South Billing', reply_to: 'new@south.example' } });

  await allAttempts();

  const [mail] = await taken();
  expect([mail?.from?.value[0]?.name, mail?.replyTo?.value[0]?.address]).toEqual([
    'South Billing',
    'new@south.example',
  ]);
});

test('when the client was anonymised, then an auditor gets the invoice without a link, which nothing would open', async () => {
  const { id } = await invoice({ status: 'Sent' });
  expect((await me.api.post(`/api/v1/clients/${client_id}/anonymise`)).status).toBe(200);
  await send(`invoices/${id}`, { to: ['auditor@example.com'] });

  await attempts();

  expect([await states(), relay.taken.map(({ to }) => to.join())]).toEqual([['accepted'], ['auditor@example.com']]);
  expect((await taken())[0]?.text).not.toContain('portal.example.com');
});

test('when an invoice was cancelled, then the answer to a question about it is mailed all the same, before and after', async () => {
  const { id } = await invoice({ status: 'Sent' });
  const { body } = await me.api.post(`/api/v1/invoices/${id}/links`, {});
  const questions = ['Why 100?', 'Why was it cancelled?'].map((text) => ({
    ...newRecord(me.id),
    document: { type: 'invoice' as const, id: storedId(id), number: 'INV-0001' },
    ...{ client_id: storedId(client_id), text, status: 'open' as const, link_id: storedId(body.data.id) },
  }));
  await Question.collection.insertMany(questions as never);
  const [first, second] = questions.map(({ _id }) => `/api/v1/questions/${String(_id)}/answer`);
  await me.api.post(first as string, { answer: 'As agreed.' });
  await change(`invoices/${id}`, { status: 'Cancelled' });
  await me.api.post(second as string, { answer: 'It had the wrong date.' });

  await allAttempts();

  expect([await states(), relay.taken.length]).toEqual([['accepted', 'accepted'], 2]);
});

test('when the invoice that the mail of a link to all documents names was cancelled, then the link is mailed all the same', async () => {
  const { id } = await invoice({ status: 'Sent' });
  const { body } = await me.api.post(`/api/v1/clients/${client_id}/links`, { allow: ['ask'] });
  const record = await findOwn(Invoice, me.id, id);
  await inUnit(me.id, (unit) =>
    planMessage(unit, {
      ...{ kind: 'link', type: 'invoice', record: record as InvoiceRecord, wanted: { attach_pdf: false } },
      link: { type: 'client', allow: ['ask'], show_time: false, renews: storedId(body.data.id) },
    }),
  );
  await change(`invoices/${id}`, { status: 'Cancelled' });

  await allAttempts();

  expect(await states()).toEqual(['accepted']);
});

test('when a quote was accepted before it is mailed, then its words ask for nothing, and the copy leaves', async () => {
  const { id } = await quote();
  await change(`quotes/${id}`, { status: 'Accepted' });
  await send(`quotes/${id}`);

  await allAttempts();

  const [mail] = await taken();
  expect(mail?.text).toContain('over €100.00.');
  expect(mail?.text).not.toContain('valid until');
});

test.each([
  ['before its mail is made', async () => undefined, 1],
  ['after its mail was deferred', deferred, 2],
])('when a quote is accepted %s, then a copy of it leaves, once', async (_, first, count) => {
  const { id } = await quote();
  await send(`quotes/${id}`);
  await first();
  await change(`quotes/${id}`, { status: 'Accepted' });

  await allAttempts();

  const [mail, ...others] = await taken();
  expect([others, await states()]).toEqual([[], ['cancelled', 'accepted'].slice(-count)]);
  expect(mail?.text).toContain('over €100.00.');
  expect(mail?.text).not.toContain('valid until');
});

test('when a quote is accepted while an attempt with its mail is made, then a copy of it leaves, once', async () => {
  const { id } = await quote();
  await send(`quotes/${id}`);
  let isAccepted = false;
  relay.behave({
    onRecipient: async () => {
      if (!isAccepted) await change(`quotes/${id}`, { status: 'Accepted' });
      isAccepted = true;
      return undefined;
    },
  });

  await allAttempts();

  expect([await states(), relay.taken.length]).toEqual([['cancelled', 'accepted'], 1]);
  expect((await taken())[0]?.text).not.toContain('valid until');
});

test('when the account sets an archive, then every mail that leaves from then on goes there, however it came to wait', async () => {
  const archive = (bcc: string | null) => change('account', { mail: { bcc } });
  await send(`quotes/${(await quote()).id}`);
  await deferred();
  await archive('first@north.example');
  await send(`quotes/${(await quote()).id}`, { bcc: ['first@north.example'] });
  const { id } = await quote();
  await send(`quotes/${id}`, { cc: ['bob@example.com'] });
  const [, , third] = await messages();
  expect(third?.recipients.map(({ address }) => address)).toContain('first@north.example');
  // A worker has the message while the archive is changed.
  await Message.updateOne({ _id: third?._id, account_id: me.id }, { lease_until: new Date(Date.now() + 60_000) });
  await archive('Second@north.example');
  await Message.updateOne({ _id: third?._id, account_id: me.id }, { $unset: { lease_until: 1 } });

  await allAttempts();

  expect(relay.taken.map(({ to }) => to.join(' '))).toEqual([
    'ada@example.com second@north.example',
    'ada@example.com first@north.example second@north.example',
    'ada@example.com bob@example.com second@north.example',
  ]);
  relay.taken.length = 0;
  await archive('third@north.example');
  const again = await me.api.post(`/api/v1/messages/${String(third?._id)}/resend`, {});
  expect(again.status).toBe(202);
  await archive(null);
  await send(`quotes/${id}`, { bcc: ['third@north.example'] });

  await allAttempts();

  expect(relay.taken.map(({ to }) => to.join(' '))).toEqual([
    'ada@example.com bob@example.com',
    'ada@example.com third@north.example',
  ]);
});

test.each([
  ['made', deferred, ['cancelled', 'accepted']],
  ['not made', async () => undefined, ['accepted']],
])(
  'when the client gets another address while its mail waits, %s, then it leaves to that one alone',
  async (_, first, after) => {
    await send(`quotes/${(await quote()).id}`, { cc: ['bob@example.com'] });
    await first();
    await change(`clients/${client_id}`, { email: 'new@example.com' });

    await allAttempts();

    expect([await states(), relay.taken.map(({ to }) => to.join(' '))]).toEqual([
      after,
      ['new@example.com bob@example.com'],
    ]);
    const [mail] = await taken();
    expect(mail?.headers.get('to')).toMatchObject({ text: 'new@example.com' });
  },
);

const DAY_MS = 24 * 3_600_000;
const GREYLISTED = '451 4.7.1 Greylisted';
/** The mail server answers like this for 48 hours. */
const failing = async (reply: string) => {
  relay.behave({ onRecipient: () => reply });
  await attempts();
  const waiting = { account_id: me.id, state: 'queued' };
  await Message.updateMany(waiting, { 'attempts.0.at': new Date(Date.now() - 3 * DAY_MS) });
  await allAttempts();
  relay.behave({});
};

describe('the receipt of a payment', () => {
  const paid = async () => {
    await change('account', { receipts: true });
    const { id } = await invoice({ status: 'Sent' });
    return { id: id as string, payment: (await me.post(`invoices/${id}/payments`, { amount: 100 })).id as string };
  };
  /** Lets the time of the message come that was planned last. */
  const whenDue = async () => {
    const [planned] = (await messages()).filter(({ state }) => state === 'planned');
    await Message.updateOne({ _id: planned?._id, account_id: me.id }, { next_at: new Date() });
    await attempt(String(planned?._id));
  };

  test('when the mail server does not take it for 48 hours, then it goes out once more a day later, and no third time', async () => {
    await paid();
    await failing(GREYLISTED);
    const [first, second] = await messages();
    const inMs = Number(second?.next_at) - Date.now();
    expect([await states(), second?.resend_of, Math.round(inMs / DAY_MS)]).toEqual([
      ['failed', 'planned'],
      first?._id,
      1,
    ]);

    relay.behave({ onRecipient: () => GREYLISTED });
    await whenDue();
    await failing(GREYLISTED);

    expect(await states()).toEqual(['failed', 'failed']);
  });

  test('when the mail server takes it then, then the client has it once', async () => {
    await paid();
    await failing(GREYLISTED);
    await whenDue();
    expect([await states(), relay.taken.map(({ to }) => to)]).toEqual([['failed', 'accepted'], [['ada@example.com']]]);
  });

  test.each([
    ['its address was rejected', '550 5.1.1 No such user', async () => undefined, ['failed']],
    ['the account wants no receipts any more', GREYLISTED, () => change('account', { receipts: false }), ['failed']],
  ])('when %s, then it is not planned again', async (_, reply, meanwhile, expected) => {
    await paid();
    await deferred();
    await meanwhile();
    await failing(reply);
    expect(await states()).toEqual(expected);
  });

  test.each([
    [
      'its account sent it again',
      async (message: MessageRecord) =>
        expect((await me.api.post(`/api/v1/messages/${String(message._id)}/resend`, {})).status).toBe(202),
      ['failed', 'cancelled', 'accepted'],
    ],
    [
      'the payment was voided',
      async ({ document }: MessageRecord) =>
        expect(
          (await me.api.post(`/api/v1/payments/${String(document.id)}/void`, { reason: 'Entered twice' })).status,
        ).toBe(200),
      ['failed', 'cancelled'],
    ],
  ])('when %s meanwhile, then the second one does not leave', async (_, meanwhile, expected) => {
    await paid();
    await failing(GREYLISTED);
    const [failed] = (await messages()) as [MessageRecord];
    await meanwhile(failed);

    await allAttempts();
    if ((await states()).includes('planned')) await whenDue();

    expect(await states()).toEqual(expected);
  });

  test('when the money pays another invoice before it is mailed, then its link leads there', async () => {
    const { id, payment } = await paid();
    const { id: other } = await invoice({ status: 'Sent' });
    expect((await me.api.post(`/api/v1/payments/${payment}/release`, {})).status).toBe(200);
    await me.post(`payments/${payment}/allocations`, { invoice_id: other });

    await allAttempts();

    const linked = async (of: string) => ((await me.get(`invoices/${of}/links`)) as object[]).length;
    expect([await linked(id), await linked(other)]).toEqual([0, 1]);
  });
});

describe('the step of a reminder', () => {
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS + 1_000);
  const step = async () => {
    await change('account', { reminders: [{ days: 3 }], remind_at: '00:00' });
    const { id } = await invoice({ status: 'Sent', due_date: addDays(dayIn('UTC'), -10) });
    await planReminders(inDays(0));
    return id as string;
  };

  test('when the mail server does not take it for 48 hours, then it goes out once more on the next day, and no third time', async () => {
    const id = await step();
    await failing(GREYLISTED);
    await planReminders(inDays(0));
    expect(await states()).toEqual(['failed']);

    await Promise.all([planReminders(inDays(1)), planReminders(inDays(1))]);
    const [first, second] = await messages();
    expect([await states(), second?.resend_of, second?.reminder?.days]).toEqual([['failed', 'queued'], first?._id, 3]);
    await failing(GREYLISTED);
    for (const days of [1, 2, 3]) await planReminders(inDays(days));

    expect(await states()).toEqual(['failed', 'failed']);
    const { follow_ups } = await me.get('reports/follow-ups');
    expect(follow_ups).toContainEqual(expect.objectContaining({ kind: 'unreminded_invoices', ids: [id] }));
  });

  test('when the second one is stopped, then it goes out when that is over', async () => {
    const id = await step();
    await failing(GREYLISTED);
    await planReminders(inDays(1));
    await change(`invoices/${id}`, { reminders: { mode: 'off' } });
    await allAttempts();
    expect(await states()).toEqual(['failed', 'cancelled']);
    await change(`invoices/${id}`, { reminders: null });
    await planReminders(inDays(2));

    await allAttempts();

    expect([await states(), relay.taken.length]).toEqual([['failed', 'cancelled', 'accepted'], 1]);
  });

  test.each([
    ['its address was rejected', '550 5.1.1 No such user', async () => undefined, ['failed']],
    [
      'its account sent it again',
      GREYLISTED,
      async (id: string) => expect((await me.api.post(`/api/v1/messages/${id}/resend`, {})).status).toBe(202),
      ['failed', 'queued'],
    ],
  ])('when %s, then it is not planned again', async (_, reply, meanwhile, expected) => {
    await step();
    await failing(reply);
    const [failed] = await messages();
    await meanwhile(String(failed?._id));

    for (const days of [1, 4]) await planReminders(inDays(days));

    expect(await states()).toEqual(expected);
  });
});

test('when a quote was changed and sent again by hand, then the first mail is not made anew', async () => {
  const { id } = await quote();
  await send(`quotes/${id}`);
  await deferred();
  await change(`quotes/${id}`, { amount: 80 });
  await send(`quotes/${id}`);

  await allAttempts();

  expect([await states(), relay.taken.length]).toEqual([['cancelled', 'accepted'], 1]);
});

test('when a quote was sent to others or for later since, then its first mail is made anew all the same', async () => {
  const { id } = await quote();
  await send(`quotes/${id}`);
  await deferred();
  await change(`quotes/${id}`, { amount: 80 });
  await send(`quotes/${id}`, { to: ['bob@example.com'] });
  await send(`quotes/${id}`, { send_at: new Date(Date.now() + 3_600_000).toISOString() });

  await allAttempts();

  expect(relay.taken.map(({ to }) => to.join()).toSorted()).toEqual(['ada@example.com', 'bob@example.com']);
  expect(await states()).toEqual(['cancelled', 'accepted', 'planned', 'accepted']);
});

test('when nothing of the document changes, or the mail may have arrived, then it is the same mail at every attempt', async () => {
  const { id } = await quote();
  await send(`quotes/${id}`);
  await deferred();
  relay.behave({ onContents: () => 'break' });
  await allAttempts();
  expect(await states()).toEqual(['unknown']);
  relay.behave({});
  await change(`quotes/${id}`, { amount: 80 });
  const [message] = await messages();
  await Message.updateOne({ _id: message?._id, account_id: me.id }, { next_at: new Date() });
  await attempt(String(message?._id));

  expect([await states(), new Set(relay.taken.map(({ source }) => source)).size]).toEqual([['accepted'], 1]);
  expect(printed).toEqual([100]);
});

test.each([
  ['before it is mailed', true],
  ['after its mail was deferred', false],
])('when all of an invoice is paid %s, then the mail asks for nothing', async (_, isBefore) => {
  const { id } = await invoice({ status: 'Sent' });
  const pay = () => me.post(`invoices/${id}/payments`, { amount: 100 });
  if (isBefore) await pay();
  await send(`invoices/${id}`);
  await deferred();
  if (!isBefore) await pay();

  await allAttempts();

  const [mail] = await taken();
  expect(mail?.text).toContain('over €100.00.');
  expect(mail?.text).not.toMatch(/is due|€0\.00/);
});

test('when the words of an invoice are the own ones of the account, then they stay as they are', async () => {
  const texts = [{ language: 'en', subject: 'Yours', body: 'Hello.\n\n{amount_due} is due.' }];
  expect((await me.api.call('PUT', '/api/v1/mail-templates/invoice', { body: { texts } })).status).toBe(200);
  const { id } = await invoice({ status: 'Sent' });
  await me.post(`invoices/${id}/payments`, { amount: 100 });
  await send(`invoices/${id}`);

  await allAttempts();

  expect((await taken())[0]?.text).toContain('€0.00 is due.');
});
