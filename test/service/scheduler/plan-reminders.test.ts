// Reminders: each step of an unpaid invoice is planned once, at its time on the account's clock, and stopped by what stops it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { reasonToWithdraw, withdrawMessage } from '#libs/billing/messages/withdraw-message.ts';
import { addDays, dayIn } from '#libs/day.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { unregisterMailService } from '#libs/models/messages/mail-service.ts';
import { Message, type MessageRecord } from '#libs/models/messages/message.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { updateAccount } from '../../../services/admin/accounts.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { inUnit, leased, sendWithoutRelay, setUpMail } from '../../support/messages.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';
import { planReminders } from '../../support/rounds.ts';

let gateway: TestGateway;
let me: OwnAccount;
let client_id: string;

const TODAY = dayIn('UTC');
const DUE = addDays(TODAY, 10);
const REMINDERS = [{ days: 14 }, { days: -3 }, { days: 7, template: 'reminder_4' }];
const at = (day: string, time = '09:00') => new Date(`${day}T${time}:00Z`);
/** A moment after all that the test did so far. */
const soon = () => new Date(Date.now() + 1_000);
const onDay = (days: number, time?: string) => at(addDays(DUE, days), time);

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await setUpMail();
  me = await openOwnAccount(gateway, { reminders: REMINDERS, locale: 'en-US' });
  client_id = (await me.post('clients', { name: 'Ada', email: 'ada@example.com' })).id;
});

const sent = (fields: object = {}) =>
  me.post('invoices', { client_id, amount: 100, currency: 'EUR', due_date: DUE, status: 'Sent', ...fields });
const change = (path: string, body: object) => me.api.patch(`/api/v1/${path}`, body);
const pay = (id: string, amount: number) => me.post(`invoices/${id}/payments`, { amount });
async function messages(): Promise<MessageRecord[]> {
  return Message.find({ account_id: me.id }).sort({ _id: 1 }).lean<MessageRecord[]>();
}
const steps = async () =>
  (await messages())
    .filter(({ state }) => state !== 'cancelled')
    .map(({ kind, reminder }) => `${kind} ${reminder?.days}`);
const markOf = async (id: string) =>
  (await Invoice.findOne({ account_id: me.id, _id: id }).lean())?.['reminder_due_at'];
/** Lets the mail server take everything that is queued. */
async function deliver() {
  for (const { _id, state } of await messages()) if (state === 'queued') await sendWithoutRelay(me.id, String(_id));
}

describe('the steps of an account', () => {
  test('when they are set, then they are in order, each with the words of its place or its own', async () => {
    expect(await me.get('account')).toMatchObject({
      reminders: [
        { days: -3, template: 'reminder_1' },
        { days: 7, template: 'reminder_4' },
        { days: 14, template: 'reminder_3' },
      ],
      remind_at: '09:00',
    });
    await change('account', { reminders: [], remind_at: null });
    expect(await me.get('account')).toMatchObject({ reminders: null, remind_at: '09:00' });
  });

  test('when they are wrong, then all of it is said at once', async () => {
    const wrong = [{ days: -4 }, { days: 91, template: 'invoice' }, { days: 1.5 }, {}, { days: 2 }, { days: 2 }];
    const { status, body } = await change('account', { reminders: wrong, remind_at: '24:00' });
    expect([status, body.details]).toEqual([
      400,
      {
        'reminders.0.days': [expect.any(String)],
        'reminders.1.days': [expect.any(String)],
        'reminders.1.template': [expect.any(String)],
        'reminders.2.days': [expect.any(String)],
        'reminders.3.days': [expect.any(String)],
        'reminders.5': [expect.any(String)],
        reminders: [expect.any(String)],
        remind_at: ['remind_at must be a time such as 09:00'],
      },
    ]);
  });
});

describe('a round', () => {
  test('when each step comes, then it is planned once, however many schedulers look, and asks for what is due', async () => {
    const { id } = await sent();
    await planReminders(soon());
    expect([await steps(), await markOf(id)]).toEqual([[], onDay(-3)]);
    await planReminders(onDay(-3, '08:59'));
    expect(await steps()).toEqual([]);

    await Promise.all([planReminders(onDay(-3)), planReminders(onDay(-3)), planReminders(onDay(-3))]);
    await planReminders(onDay(-3, '23:00'));
    expect(await steps()).toEqual(['reminder_1 -3']);
    expect((await me.get(`messages/${(await messages())[0]?._id}`)).reminder).toEqual({
      days: -3,
      amount_due: 100,
      currency: 'EUR',
    });
    await deliver();
    await pay(id, 40);
    await planReminders(onDay(7));
    await deliver();
    await planReminders(onDay(14));
    await deliver();
    await planReminders(onDay(400));

    expect(await steps()).toEqual(['reminder_1 -3', 'reminder_4 7', 'reminder_3 14']);
    expect((await messages()).map(({ reminder }) => reminder?.amount_due)).toEqual([10_000, 6_000, 6_000]);
    expect(await markOf(id)).toBeUndefined();
    const events = await Event.find({ account_id: me.id, type: 'reminder.sent' }).sort({ sequence: 1 }).lean();
    expect(events.map(({ body }) => JSON.parse(body).data)).toMatchObject([
      { kind: 'reminder_1', state: 'accepted', document: { id }, reminder: { days: -3 } },
      { kind: 'reminder_4', reminder: { days: 7, amount_due: 60 } },
      { kind: 'reminder_3' },
    ]);
  });

  test('when the client has no address, then each step goes to those who took the invoice', async () => {
    await change('account', { require_client_email: false });
    const nameless = (await me.post('clients', { name: 'Bob' })).id;
    const { id } = await sent({ client_id: nameless });
    await planReminders(onDay(-3));
    expect(await steps()).toEqual([]);
    expect((await me.api.post(`/api/v1/invoices/${id}/send`, { to: ['bob@work.example'] })).status).toBe(202);
    await deliver();

    await planReminders(onDay(7));
    await deliver();
    await planReminders(onDay(14));

    const reminders = (await messages()).slice(1);
    expect(reminders.map(({ kind, recipients }) => [kind, recipients.map(({ address }) => address).join()])).toEqual([
      ['reminder_4', 'bob@work.example'],
      ['reminder_3', 'bob@work.example'],
    ]);
  });

  test('when the address of a client is removed, then it gets no step, and those who take the invoice afterwards do', async () => {
    await change('account', { require_client_email: false });
    const { id } = await sent();
    const mail = (body: object = {}) => me.api.post(`/api/v1/invoices/${id}/send`, body);
    expect((await mail()).status).toBe(202);
    await deliver();
    await planReminders(onDay(-3));
    expect((await change(`clients/${client_id}`, { email: null })).status).toBe(200);
    expect((await messages()).map(({ kind, state }) => [kind, state])).toEqual([
      ['invoice', 'accepted'],
      ['reminder_1', 'cancelled'],
    ]);
    await planReminders(onDay(7));
    expect(await steps()).toEqual(['invoice undefined']);

    await mail({ to: ['bob@work.example'] });
    await deliver();
    await planReminders(onDay(10));
    expect((await messages()).at(-1)).toMatchObject({
      kind: 'reminder_4',
      recipients: [{ address: 'bob@work.example' }],
    });
  });

  test('when several steps were missed, then only the latest goes out', async () => {
    await sent();
    await planReminders(onDay(20));
    await deliver();
    await planReminders(onDay(30));
    expect(await steps()).toEqual(['reminder_3 14']);
  });

  test('when the invoice was mailed less than 48 hours ago, then the step waits', async () => {
    const { id } = await sent({ due_date: addDays(TODAY, -8) });
    await me.api.post(`/api/v1/invoices/${id}/send`, {});
    await deliver();
    const mailed = (await messages())[0]?.accepted_at as Date;
    await planReminders(new Date(mailed.getTime() + 47.9 * 3_600_000));
    expect(await steps()).toEqual(['invoice undefined']);
    // Not before the time of the day either.
    const later = addDays(dayIn('UTC', mailed), 3);
    await planReminders(at(later, '08:59'));
    expect(await steps()).toEqual(['invoice undefined']);
    await planReminders(at(later));
    expect(await steps()).toEqual(['invoice undefined', 'reminder_4 7']);
  });

  test('when the first mail about the invoice is planned for later, then no step goes out before it', async () => {
    const { id } = await sent({ due_date: addDays(TODAY, -8) });
    const send_at = new Date(Date.now() + 5 * 24 * 3_600_000);
    await me.api.post(`/api/v1/invoices/${id}/send`, { send_at: send_at.toISOString() });
    await planReminders(soon());
    await planReminders(at(addDays(TODAY, 4)));
    expect(await steps()).toEqual(['invoice undefined']);
    await Message.updateMany({ account_id: me.id }, { state: 'accepted', accepted_at: send_at });
    await planReminders(at(addDays(TODAY, 8)));
    expect(await steps()).toEqual(['invoice undefined', 'reminder_3 14']);
  });

  test.each<[string, (id: string) => Promise<unknown>, ((id: string) => Promise<unknown>) | undefined]>([
    ['is paid', (id) => pay(id, 100), undefined],
    ['is cancelled', (id) => change(`invoices/${id}`, { status: 'Cancelled' }), undefined],
    ['is credited', (id) => me.post(`invoices/${id}/credit-notes`, { reason: 'goodwill' }), undefined],
    ['is written off', (id) => me.api.post(`/api/v1/invoices/${id}/write-off`, { reason: 'lost' }), undefined],
    [
      'is not reminded of',
      (id) => change(`invoices/${id}`, { reminders: { mode: 'off' } }),
      (id) => change(`invoices/${id}`, { reminders: null }),
    ],
    [
      'is paused',
      (id) => change(`invoices/${id}`, { reminders: { paused_until: addDays(DUE, 30) } }),
      (id) => change(`invoices/${id}`, { reminders: { paused_until: null } }),
    ],
    [
      'has a client that is not',
      () => change(`clients/${client_id}`, { reminders: { mode: 'off' } }),
      () => change(`clients/${client_id}`, { reminders: { mode: 'on' } }),
    ],
    ['waits for a promise', (id) => rest(id, addDays(DUE, 30)), (id) => rest(id, addDays(DUE, 8))],
    ['cannot be mailed', () => unregisterMailService(), () => setUpMail()],
    [
      'has a client without an address',
      () => forgetAddress(),
      () => change(`clients/${client_id}`, { email: 'ada@example.com' }),
    ],
    [
      'has a client whose mail came back',
      (id) => bounce(id),
      () => me.api.delete('/api/v1/suppressions/ada@example.com'),
    ],
  ])(
    'when an invoice %s, then no reminder goes out, and the next day it does if that is over',
    async (_, stop, goOn) => {
      const { id } = await sent();
      await stop(id);
      await planReminders(onDay(7));
      const before = await steps();
      expect(before.filter((step) => step.startsWith('reminder'))).toEqual([]);
      expect((await markOf(id)) === undefined).toBe(goOn === undefined);
      await goOn?.(id);
      await planReminders(onDay(8));
      expect((await steps()).slice(before.length)).toEqual(goOn ? ['reminder_4 7'] : []);
    },
  );

  const rest = (id: string, resumes_on: string) =>
    Invoice.updateOne({ account_id: me.id, _id: id }, { $set: { reminder_rest: { resumes_on, because: 'promise' } } });

  async function forgetAddress() {
    await change('account', { require_client_email: false });
    await change(`clients/${client_id}`, { email: '' });
  }

  async function bounce(id: string) {
    await me.api.post(`/api/v1/invoices/${id}/send`, {});
    await deliver();
    const message_id = String((await messages())[0]?._id);
    await me.api.post('/api/v1/messages/bounces', { message_id, recipient: 'ada@example.com', kind: 'hard' });
  }

  test('when the account collects the money of a client, then nothing is asked for before the due date', async () => {
    await change(`clients/${client_id}`, { auto_collect: true });
    await sent();
    await planReminders(onDay(-3));
    await planReminders(onDay(-1));
    expect(await steps()).toEqual([]);
    await planReminders(onDay(7));
    expect(await steps()).toEqual(['reminder_4 7']);
  });

  test('when steps are set later, then they count for invoices that are open already, and those of an account without any cost one look', async () => {
    await change('account', { reminders: null });
    const { id } = await sent();
    await planReminders(soon());
    await planReminders(soon());
    expect([await steps(), await markOf(id)]).toEqual([[], undefined]);
    await change('account', { reminders: [{ days: 2 }], remind_at: '17:30' });
    await planReminders(soon());
    expect(await markOf(id)).toEqual(onDay(2, '17:30'));
    expect((await Account.findById(me.id).lean())?.reminders_changed_after).toBeUndefined();
    await change('account', { time_zone: 'Asia/Tokyo' });
    await planReminders(soon());
    expect(await markOf(id)).toEqual(onDay(2, '08:30'));
    // The command of the operator does the same.
    await updateAccount(me.id, { timeZone: 'Asia/Dubai' });
    await planReminders(soon());
    expect(await markOf(id)).toEqual(onDay(2, '13:30'));
  });

  test('when the due date moves or a payment is voided, then the invoice is looked at again', async () => {
    const { id } = await sent();
    const payment = await pay(id, 100);
    await planReminders(onDay(14));
    expect(await markOf(id)).toBeUndefined();
    await me.api.post(`/api/v1/payments/${payment.id}/void`, { reason: 'wrong' });
    await planReminders(soon());
    expect(await markOf(id)).toEqual(onDay(-3));
    await change(`invoices/${id}`, { due_date: addDays(DUE, 5) });
    await planReminders(soon());
    expect(await markOf(id)).toEqual(onDay(2));
  });
});

describe('before the contents of a reminder leave', () => {
  /** A reminder that a worker has, and what became of it and others after `meanwhile`. */
  async function withdrawn(meanwhile: (id: string) => Promise<unknown>, { isByHand = false } = {}) {
    const { id } = await sent({ due_date: addDays(TODAY, -8) });
    if (isByHand)
      await me.api.post(`/api/v1/invoices/${id}/remind`, { to: ['bob@example.com'], subject: 'Please: {amount_due}' });
    else await planReminders(at(addDays(TODAY, 1)));
    const [planned] = await messages();
    const { message, leaseId } = await leased(me.id, String(planned?._id));
    await meanwhile(id);
    const reason = await inUnit(me.id, (unit) => reasonToWithdraw(unit, message));
    if (reason) await inUnit(me.id, (unit) => withdrawMessage(unit, message, { leaseId, reason, now: new Date() }));
    return { id, reason };
  }

  test('when a part was paid, then it is cancelled and planned anew with the present sum', async () => {
    const { reason } = await withdrawn((id) => pay(id, 30));
    expect(reason).toBe('The sum that is due has changed');
    expect(
      (await messages()).map(({ state, once, reminder }) => [state, once !== undefined, reminder?.amount_due]),
    ).toEqual([
      ['cancelled', false, 10_000],
      ['queued', true, 7_000],
    ]);
    await planReminders(at(addDays(TODAY, 2)));
    expect(await messages()).toHaveLength(2);
  });

  test('when one by hand asks for another sum, then it goes out anew to the same recipients in the same words', async () => {
    await withdrawn((id) => pay(id, 30), { isByHand: true });
    expect(
      (await messages()).map(({ state, subject, recipients }) => [state, subject, recipients[0]?.address]),
    ).toEqual([
      ['cancelled', 'Please: €100.00', 'bob@example.com'],
      ['queued', 'Please: €70.00', 'bob@example.com'],
    ]);
  });

  test('when the account removed the step, then it is cancelled, and goes out when the step is there again', async () => {
    const { reason } = await withdrawn(() => change('account', { reminders: [{ days: -3 }] }));
    expect([reason, await steps()]).toEqual(['The account removed the step', []]);
    await planReminders(at(addDays(TODAY, 2)));
    expect(await steps()).toEqual(['reminder_1 -3']);
    await deliver();
    await change('account', { reminders: REMINDERS });
    await planReminders(at(addDays(TODAY, 6)));
    expect(await steps()).toEqual(['reminder_1 -3', 'reminder_3 14']);
  });

  test('when the account collects the money of the client from then on, then a step before the due date is cancelled', async () => {
    await sent({ due_date: addDays(TODAY, 2) });
    await planReminders(at(addDays(TODAY, 1)));
    const [planned] = await messages();
    const { message } = await leased(me.id, String(planned?._id));
    await change(`clients/${client_id}`, { auto_collect: true });

    expect(await inUnit(me.id, (unit) => reasonToWithdraw(unit, message))).toBe(
      'The account collects the money of the client',
    );
  });

  test('when the due date of one by hand was moved, then it is cancelled, and none goes out in its place', async () => {
    const due_date = addDays(TODAY, 20);
    const { reason } = await withdrawn((id) => change(`invoices/${id}`, { due_date }), { isByHand: true });
    expect([reason, await steps()]).toEqual(['The due date was moved', []]);
  });

  test('when it was paid, then it is cancelled, and the step goes out if the payment is voided', async () => {
    let payment = '';
    const { reason } = await withdrawn(async (id) => (payment = (await pay(id, 100)).id));
    expect([reason, await steps()]).toEqual(['Nothing is due of the invoice any more', []]);
    await me.api.post(`/api/v1/payments/${payment}/void`, { reason: 'wrong' });
    await planReminders(at(addDays(TODAY, 2)));
    expect(await steps()).toEqual(['reminder_4 7']);
  });

  test('when the due date was moved, then it is cancelled and goes out on its new day', async () => {
    const due_date = addDays(TODAY, 20);
    expect((await withdrawn((id) => change(`invoices/${id}`, { due_date }))).reason).toBe('The due date was moved');
    await planReminders(at(addDays(due_date, 6)));
    expect((await steps()).includes('reminder_4 7')).toBe(false);
    await deliver();
    await planReminders(at(addDays(due_date, 7)));
    expect((await steps()).at(-1)).toBe('reminder_4 7');
  });

  test.each([
    ['the invoice', 'send'],
    ['a reminder', 'remind'],
  ])('when %s was mailed by hand meanwhile, then it is cancelled and goes out 48 hours later', async (_, way) => {
    const mail = async (id: string) => {
      await me.api.post(`/api/v1/invoices/${id}/${way}`, {});
      const last = (await messages()).at(-1);
      await sendWithoutRelay(me.id, String(last?._id));
    };
    const { id, reason } = await withdrawn(mail);
    expect(reason).toBe('Another mail about the invoice leaves or has just left');
    expect(await steps()).toHaveLength(1);
    await planReminders(soon());
    await planReminders(at(addDays(TODAY, 1), '23:00'));
    expect(await steps()).toHaveLength(1);
    expect(await markOf(id)).toBeDefined();
    await planReminders(at(addDays(TODAY, 4)));
    expect((await steps()).at(-1)).toBe('reminder_4 7');
  });

  test('when reminders were paused, then it is cancelled and goes out after the pause; one by hand goes out', async () => {
    const pause = (id: string) => change(`invoices/${id}`, { reminders: { paused_until: addDays(TODAY, 3) } });
    expect((await withdrawn(pause)).reason).toBe('Reminders are paused');
    await planReminders(at(addDays(TODAY, 2)));
    expect(await steps()).toEqual([]);
    await planReminders(at(addDays(TODAY, 3)));
    expect(await steps()).toEqual(['reminder_4 7']);
    await Message.deleteMany({ account_id: me.id });
    expect((await withdrawn(pause, { isByHand: true })).reason).toBeUndefined();
  });
});

describe('POST /api/v1/invoices/{id}/remind', () => {
  const remind = (id: string, body: object = {}) => me.api.post(`/api/v1/invoices/${id}/remind`, body);

  test('when something is due, then a reminder is queued in the words of the present step, and the next step waits', async () => {
    const { id } = await sent({ due_date: addDays(TODAY, -8) });
    const { status, body } = await remind(id);
    expect([status, body.data]).toMatchObject([
      202,
      { kind: 'reminder_4', reminder: { days: null, amount_due: 100 }, state: 'queued' },
    ]);
    await planReminders(new Date(Date.now() + 24 * 3_600_000));
    expect(await steps()).toEqual(['reminder_4 undefined']);
    const first = await sent({ due_date: TODAY });
    expect((await remind(first.id)).body.data.kind).toBe('reminder_1');
  });

  test('when nothing is due, then 409', async () => {
    const unpaid = { due_date: addDays(TODAY, -8) };
    const [draft, paid, early, cancelled] = [
      await sent({ ...unpaid, status: 'Draft' }),
      await sent(unpaid),
      await sent(),
      await sent(unpaid),
    ];
    await pay(paid.id, 100);
    await change(`invoices/${cancelled.id}`, { status: 'Cancelled' });
    for (const { id } of [draft, paid, early, cancelled])
      expect(await me.refused(`invoices/${id}/remind`, {})).toEqual([
        409,
        'Cannot remind about an invoice that is not due',
      ]);
    expect((await me.refused(`invoices/${client_id}/remind`, {}))[0]).toBe(404);
    const { id } = await sent(unpaid);
    await unregisterMailService();
    expect(await me.refused(`invoices/${id}/remind`, {})).toEqual([409, 'Mail is not set up']);
  });

  test('when a reminder of an invoice that was paid is sent again, then 409', async () => {
    const { id } = await sent({ due_date: addDays(TODAY, -8) });
    const { body } = await remind(id);
    await deliver();
    await pay(id, 100);
    expect(await me.refused(`messages/${body.data.id}/resend`, {})).toEqual([
      409,
      'Cannot remind about an invoice that is not due',
    ]);
  });
});
