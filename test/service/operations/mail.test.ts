// Operators find messages of all accounts, see why they wait or failed, and retry them: masked, at a bounded cost, and nothing twice.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { whyNoRetry } from '#libs/billing/messages/retry-message.ts';
import { sendMail } from '#libs/jobs/catalog.ts';
import { pauseQueue, resumeQueue } from '#libs/jobs/control.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { Client } from '#libs/models/accounts/client.ts';
import { MESSAGES_EXAMINED_MAX } from '#libs/models/messages/mail-problems.ts';
import { Message, type MessageRecord, type Recipient, type RecipientState } from '#libs/models/messages/message.ts';
import { Suppression } from '#libs/models/messages/suppression.ts';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { BulkRun } from '#libs/models/operations/bulk-run.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, type Id, newId, newRecord, storedId } from '#libs/models/tenant.ts';
import { makeToken } from '#libs/models/token.ts';
import { causeOf } from '../../../services/operations/store/mail-causes.ts';
import { findMailFailures } from '../../../services/operations/store/mail-failures.ts';
import { countMail, type MailSearch, nextRetried, searchMail } from '../../../services/operations/store/mail-search.ts';
import { type Browser, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { eventually } from '../../support/eventually.ts';
import { insertInvoice, insertMessage, leased, messageOf, setUpMail, storedMessage } from '../../support/messages.ts';
import { plansOf } from '../../support/plans.ts';

let dashboard: TestDashboard;
let operator: Browser & { name: string };
let viewer: Browser & { name: string };
let accountId: Id;
let otherId: Id;
beforeAll(async () => {
  dashboard = await startDashboard();
  operator = await dashboard.login('operator');
  viewer = await dashboard.login('viewer');
  accountId = (await dashboard.workspace.account({ name: 'Bureau <b>' })).id;
  otherId = (await dashboard.workspace.account()).id;
  await setUpMail();
});
beforeEach(async () => {
  await Promise.all([Message, Suppression].map((records) => records.deleteMany({}).setOptions(acrossAccounts)));
});
afterAll(() => dashboard.close());

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000);
const timeText = (date: Date) => date.toISOString().slice(0, 16);
const at = new Date();
const to = (state: RecipientState, fields: Partial<Recipient> = {}): Recipient => {
  return { address: 'ada@example.com', role: 'to', state, at, ...fields };
};
const REFUSED = { at, duration_ms: 40, code: '550 5.1.1', text: 'No such user' };

/** The fields of a message that ended in this state. */
function ended(state: 'accepted' | 'failed' | 'cancelled', recipients: Recipient[]): Partial<MessageRecord> {
  const attempts = state === 'cancelled' ? [] : [REFUSED];
  const none = { next_at: undefined, due_at: undefined };
  return { state, recipients, attempts, attempts_made: attempts.length, settled_at: at, ...none };
}

/** The fields of a message that waits for another attempt. */
function retrying(last: Partial<typeof REFUSED> = { code: '421', text: 'Busy' }): Partial<MessageRecord> {
  return { attempts: [{ at, ...last }], attempts_made: 1, next_at: inMinutes(9), due_at: inMinutes(9) };
}

const failed = (fields: Partial<Recipient> = {}) =>
  ended('failed', [to('failed', { code: '550 5.1.1', text: 'No such user', ...fields })]);

const shownIn = (text: string) => [...text.matchAll(/href="\/mail\/([0-9a-f-]{36})"/g)].map(([, id]) => id as string);
const lastEntry = () => AuditEntry.findOne({ operator: operator.name }).sort({ _id: -1 }).lean();
const retry = (message: MessageRecord) => operator.post(`/mail/${String(message._id)}/retry`);
/** The messages that repeat this one. */
const repeated = ({ _id, account_id }: MessageRecord) =>
  Message.find({ account_id, resend_of: _id }).lean<MessageRecord[]>();

test('when messages are searched by id, Message-ID, account, number, recipient, state, kind, server, cause or time, then exactly those that match are shown', async () => {
  const names = new Map<string, string>();
  const add = async (name: string, fields: Partial<MessageRecord>, account = accountId) =>
    void names.set(String((await insertMessage(account, fields))._id), name);
  await add('planned', { state: 'planned', recipients: [to('planned')], kind: 'reminder_1' });
  await add('waits', { ...retrying(), sender: 'own@north.example' });
  await add('unknown', { state: 'unknown', recipients: [to('unknown')], unknown_at: at }, otherId);
  await add('failed', failed({ address: 'grace@example.org' }));
  await add('half', ended('accepted', [to('accepted'), to('failed', { code: '552', address: 'b@example.net' })]));
  await add('bounced', ended('accepted', [to('bounced', { code: '550 5.1.1' })]), otherId);
  await add('suppressed', ended('failed', [to('suppressed')]));
  await add('cancelled', { ...ended('cancelled', [to('cancelled')]), document: await insertInvoice(accountId) });
  const idOf = (name: string) => [...names].find(([, one]) => one === name)?.[0] as string;
  const found = async (query: Record<string, string>) => {
    const { text, status } = await viewer.get(`/mail?${new URLSearchParams(query)}`);
    expect(status).toBe(200);
    expect(text).not.toMatch(/ada@|grace@|b@example/);
    return shownIn(text).map((id) => names.get(id));
  };
  await Message.updateOne({ _id: idOf('failed'), account_id: accountId }, { 'document.number': 'R-7' });
  const old = idOf('planned');

  expect(await found({})).toEqual([...names.values()].toReversed());
  expect(await found({ id: old })).toEqual(['planned']);
  expect(await found({ id: `<${old}@mail.example.com>` })).toEqual(['planned']);
  expect(await found({ id: `${old}@elsewhere.example` })).toEqual([]);
  expect(await found({ id: newId() })).toEqual([]);
  expect(await found({ id: 'nothing' })).toEqual([]);
  expect(await found({ id: otherId })).toEqual(['bounced', 'unknown']);
  expect(await found({ account: otherId, state: 'unknown' })).toEqual(['unknown']);
  expect(await found({ number: 'R-7' })).toEqual(['failed']);
  expect(await found({ address: ' Grace@Example.org' })).toEqual(['failed']);
  expect(await found({ account: accountId, address: 'b@example.net' })).toEqual(['half']);
  expect(await found({ state: 'failed' })).toEqual(['half', 'failed']);
  expect(await found({ state: 'failed', account: accountId, cause: '552' })).toEqual(['half']);
  expect(await found({ state: 'accepted' })).toEqual(['half']);
  for (const state of ['planned', 'unknown', 'bounced', 'suppressed', 'cancelled'])
    expect([state, await found({ state })]).toEqual([state, [state]]);
  expect(await found({ state: 'waiting' })).toEqual(['planned', 'unknown', 'waits']);
  expect(await found({ state: 'retrying' })).toEqual(['waits']);
  expect(await found({ state: 'retrying', account: accountId })).toEqual(['waits']);
  expect(await found({ state: 'retrying', server: 'installation' })).toEqual([]);
  expect(await found({ cause: '421' })).toEqual(['waits']);
  expect(await found({ cause: '$state', state: 'failed' })).toEqual([]);
  expect(await found({ kind: 'reminder_1' })).toEqual(['planned']);
  expect(await found({ server: 'own' })).toEqual(['waits']);
  expect(await found({ to: timeText(inMinutes(-2)) })).toEqual([]);
  expect(await found({ state: 'waiting', from: timeText(inMinutes(-2)) })).toHaveLength(3);
  for (const [query, problem] of [
    ['state=lost', /Unknown state lost/],
    ['kind=spam', /Unknown kind spam/],
    ['account=7', /Account must be an id/],
  ] as const)
    expect(await viewer.get(`/mail?${query}`)).toMatchObject({ status: 400, text: expect.stringMatching(problem) });
});

test('when a message is shown, then it has states, attempts and attachments, no name of a person, no token, and nothing of it is markup', async () => {
  const token = makeToken();
  const markup = '<img src=x onerror=alert(1)>';
  const text = `${markup} <ada@example.com> blocked for https://pay.example/l/${token} ${'y'.repeat(400)}`;
  const message = await insertMessage(accountId, {
    ...retrying({ code: '450 4.7.1', text }),
    document: { type: 'invoice', id: storedId(newId()), number: markup },
    recipients: [to('queued', { text }), to('suppressed', { address: `"${markup}"@example.net`, role: 'bcc' })],
    attachments: [{ name: `${markup}.pdf`, bytes: 2_048, sha256: '0'.repeat(64) }],
    subject: 'Invoice for Ada Lovelace',
    resend_of: storedId(newId()),
  });
  const path = `/mail/${String(message._id)}`;

  for (const page of [await viewer.get(path), await viewer.get('/mail')]) {
    expect(page.text).not.toMatch(/<img|ada@|Lovelace/);
    expect(page.text).not.toContain(token);
    expect(page.text).toContain('&lt;img');
    expect(page.text).toContain('(masked)@example.com');
  }
  const { text: shown } = await viewer.get(path);
  expect(shown).toContain('It waits for its next attempt after: 450 4.7.1.');
  expect(shown).toContain('put off, such as by greylisting');
  expect(shown).toContain('https://pay.example/l/(masked) yyy');
  expect(shown).not.toContain('y'.repeat(300));
  expect(shown).toContain('2 KiB');
  expect(shown).toContain('the server of the installation');
  expect(shown).not.toContain('/retry"');
  expect((await operator.get(path)).text).toContain(`action="${path}/retry"`);
  for (const missing of [newId(), 'none', 'retry']) {
    const { status } = await viewer.get(`/mail/${missing}`);
    expect([missing, status]).toEqual([missing, missing === 'retry' ? 200 : 404]);
  }
});

test('when a message is due, then its page says what it waits for', async () => {
  const message = await insertMessage(accountId, { due_at: inMinutes(-9), next_at: inMinutes(-9) });
  const page = async () => (await viewer.get(`/mail/${String(message._id)}`)).text;

  expect(await page()).toContain('no mail service takes it');
  await pauseQueue(dashboard.queues, sendMail);
  expect(await page()).toContain('It is due, and its queue is paused.');
  await resumeQueue(dashboard.queues, sendMail);
  await leased(accountId, String(message._id));
  expect(await page()).toContain('An attempt is being made');
});

describe('causes', () => {
  const TEXTS = [
    'connect ECONNREFUSED 10.0.0.7:25',
    'self-signed certificate',
    'getaddrinfo ENOTFOUND mail.example.com',
    'read ECONNRESET',
    'The SMTP server closed the connection',
    'Greeting never received: Timeout',
    'The mail server cannot be reached',
    'Missing credentials for "PLAIN"',
    'The mail server of the account was deleted',
    'The mail could not be made: too many documents wait',
    'no idea',
  ];

  test('when mail fails without a reply, then the database sorts errors as the pages do', async () => {
    for (const text of TEXTS) await insertMessage(accountId, retrying({ text }));

    const groups = await findMailFailures(inMinutes(-60), 50);

    const expected = Map.groupBy(TEXTS, (text) => causeOf({ text }));
    expect(expected.size).toBeGreaterThan(8);
    expect(new Map(groups.map(({ cause, messages }) => [cause, messages]))).toEqual(
      new Map([...expected].map(([cause, own]) => [cause, own.length])),
    );
  });

  test('when mail fails for one cause, then it is one row of the failures with its count, its list and its retry', async () => {
    for (let each = 0; each < 3; each += 1) await insertMessage(each > 1 ? otherId : accountId, failed());
    const quiet = ended('failed', [to('failed'), to('failed')]);
    await insertMessage(accountId, { ...quiet, attempts: [{ at, text: 'read ECONNRESET' }] });
    await insertMessage(accountId, ended('accepted', [to('bounced', { code: '552 5.2.2' }), to('accepted')]));

    const { text } = await operator.get('/failures');

    const row = text.split('<tr>').find((line) => line.includes('no such mailbox')) as string;
    expect(row).toMatch(/550 5\.1\.1.*failed.*>3<\/a>.*<div>2<\/div>.*Retry…/s);
    const [, href = ''] = /href="(\/mail\?[^"]+)"/.exec(row) ?? [];
    const list = await operator.get(href.replaceAll('&amp;', '&'));
    expect(list.text).toContain('3 messages match.');
    expect(list.text).toContain('Retry all matches…');
    const causes = (await findMailFailures(inMinutes(-60), 50)).map(({ state, cause, messages }) => [
      state,
      cause,
      messages,
    ]);
    expect(causes).toEqual([
      ['failed', '550 5.1.1', 3],
      ['failed', 'connection lost', 1],
      ['bounced', '552 5.2.2', 1],
    ]);
    expect((await viewer.get('/failures')).text).not.toContain('/mail/retry');
  });
});

describe('retry', () => {
  test('when a message waits, then it is due at once, keeps what it had, and the log names the operator', async () => {
    const message = await insertMessage(accountId, retrying());

    const { status, headers } = await retry(message);

    expect(status).toBe(303);
    expect((await operator.get(String(headers.get('location')))).text).toContain('The message is due now.');
    const now = await storedMessage(message);
    expect(now).toMatchObject({ state: 'queued', attempts_made: 1, revision: 1, recipients: [{ state: 'queued' }] });
    expect(now.due_at?.getTime()).toBeLessThanOrEqual(Date.now());
    expect(now.due_at).toEqual(now.next_at);
    expect(await lastEntry()).toMatchObject({ action: 'message.retry', target: String(message._id), outcome: 'done' });
    const again = await retry(message);
    expect([again.status, again.text]).toEqual([
      409,
      expect.stringContaining('It is due already. Nothing was changed.'),
    ]);
  });

  test('when some recipients failed, then a new message goes to those alone, once, also when two operators ask at the same time', async () => {
    await Account.updateOne({ _id: accountId }, { $set: { mail: { bcc: 'archive@north.example' } } });
    await driverOf(Suppression).insertOne({
      ...newRecord(accountId),
      address: 'gone@example.com',
      reason: 'bounce',
    } as never);
    const message = await insertMessage(accountId, {
      ...ended('accepted', [
        to('accepted'),
        to('failed', { address: 'b@example.com', role: 'cc', code: '550', text: 'Blocked' }),
        to('failed', { address: 'gone@example.com' }),
        to('bounced', { address: 'c@example.com' }),
        to('cancelled', { address: 'd@example.com' }),
        to('suppressed', { address: 'e@example.com' }),
        to('accepted', { address: 'archive@north.example', role: 'bcc' }),
      ]),
      document: await insertInvoice(accountId),
      link: { type: 'invoice', allow: ['pay'], show_time: false },
    });

    const answers = await Promise.all([retry(message), retry(message)]);

    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409]);
    expect(answers.find(({ status }) => status === 409)?.text).toContain('It was sent again already');
    const [again, ...more] = await repeated(message);
    expect(more).toEqual([]);
    expect(again).toMatchObject({
      state: 'queued',
      recipients: [
        { address: 'b@example.com', role: 'to', state: 'queued' },
        { address: 'archive@north.example', role: 'bcc', state: 'queued' },
      ],
      body_template: message.body_template,
      link: message.link,
      attempts_made: 0,
      by: { type: 'operator' },
    });
    expect(again?.recipients).toHaveLength(2);
    expect(again?.recipients[0]).not.toHaveProperty('code');
    const before = await storedMessage(message);
    expect(before).toEqual({ ...message, updated_at: before.updated_at, resent_as: again?._id });
    const shown = await viewer.get(`/mail/${String(message._id)}`);
    expect(shown.text).toContain(`href="/mail/${String(again?._id)}"`);
    const entry = await AuditEntry.findOne({ target: String(message._id), outcome: 'done' }).lean();
    expect(entry?.detail).toBe(`The message is sent again to 2 recipients as ${String(again?._id)}.`);
    await Account.updateOne({ _id: accountId }, { $unset: { mail: 1 } });
  });

  const REFUSALS: [name: string, fields: Partial<MessageRecord>, why: string][] = [
    ['may have arrived', { ...failed(), unknown_at: at }, 'It may have arrived'],
    ['is unknown', { state: 'unknown', recipients: [to('unknown')], unknown_at: at }, 'is sent once more by itself'],
    ['was cancelled', ended('cancelled', [to('cancelled')]), 'It was cancelled'],
    ['was anonymised', { ...failed(), erased_at: at }, 'Its client was anonymised'],
    ['bounced', ended('accepted', [to('bounced')]), 'No recipient was rejected by the mail server'],
    [
      'went to a suppressed address',
      ended('failed', [to('suppressed')]),
      'No recipient was rejected by the mail server',
    ],
    [
      'is planned',
      { state: 'planned', recipients: [to('planned')], next_at: inMinutes(60) },
      'for which it is planned',
    ],
    ['is being sent', { state: 'sending', recipients: [to('sending')] }, 'An attempt is being made'],
    ['is leased', { ...retrying(), lease_id: 'a worker', lease_until: inMinutes(1) }, 'An attempt is being made'],
  ];

  test.each(REFUSALS)('when a message %s, then a retry does nothing and says why', async (_name, fields, why) => {
    const message = await insertMessage(accountId, fields);

    const { status, text } = await retry(message);

    expect([status, text]).toEqual([409, expect.stringContaining(why)]);
    expect(await storedMessage(message)).toEqual(message);
    expect(await repeated(message)).toEqual([]);
    expect((await operator.get(`/mail/${String(message._id)}`)).text).not.toContain('/retry"');
  });

  test('when every failed recipient is suppressed, the document was cancelled or has another client, or that has another address, then nothing is sent and no address is shown', async () => {
    await driverOf(Suppression).insertOne({
      ...newRecord(accountId),
      address: 'ada@example.com',
      reason: 'bounce',
    } as never);
    const suppressed = await insertMessage(accountId, { ...failed(), document: await insertInvoice(accountId) });
    const document = await insertInvoice(accountId, { status: 'Cancelled' });
    const cancelled = await insertMessage(accountId, { ...failed({ address: 'b@example.com' }), document });
    const elsewhere = await insertInvoice(accountId, { client_id: storedId(newId()) });
    const given = await insertMessage(accountId, { ...failed({ address: 'b@example.com' }), document: elsewhere });

    const client = { ...newRecord(accountId), name: 'Ada', email: 'new@example.com', email_removed_at: new Date() };
    await driverOf(Client).insertOne(client as never);
    const client_id = client._id;
    const ofClient = { client_id, document: await insertInvoice(accountId, { client_id }) };
    const created_at = new Date(Date.now() - 1_000);
    const moved = await insertMessage(accountId, { ...failed({ address: 'b@example.com' }), ...ofClient, created_at });

    const answers = [await retry(suppressed), await retry(cancelled), await retry(given), await retry(moved)];

    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [409, expect.stringContaining('Every recipient that failed is suppressed')],
      [409, expect.stringContaining('it is Cancelled')],
      [409, expect.stringContaining('Its document has another client now')],
      [409, expect.stringContaining('Its account has changed the address of the client since')],
    ]);
    expect(JSON.stringify([answers, await AuditEntry.find().lean()])).not.toMatch(/ada@|b@example/);
    const stored = await Promise.all([suppressed, cancelled, given].map(storedMessage));
    expect(stored).toEqual([suppressed, cancelled, given]);
  });

  test('when all that match are retried, then those that can be are, the others stay, and a second run finds nothing', async () => {
    const document = await insertInvoice(accountId);
    const kinds = [
      failed(),
      { ...failed(), unknown_at: at },
      failed({ code: '554' }),
      ...REFUSALS.map(([, one]) => one),
    ];
    const [plain, doubtful, other] = await Promise.all(
      kinds.map((one) => insertMessage(accountId, { ...one, document })),
    );
    const gone = await insertMessage(accountId, {
      ...failed(),
      document: await insertInvoice(accountId, { status: 'Cancelled' }),
    });
    const selection = `state=failed&cause=550+5.1.1&account=${accountId}`;
    const stored = await Message.find({ account_id: accountId }).lean<MessageRecord[]>();
    const can = stored.filter((one) => whyNoRetry(one, new Date()) === undefined).map(({ _id }) => String(_id));
    const next = (search: MailSearch) => nextRetried(search, { before: inMinutes(1), position: undefined, limit: 99 });
    const found = [...(await next({ state: 'failed' })), ...(await next({ state: 'retrying' }))];
    expect(found.map(({ _id }) => String(_id)).toSorted()).toEqual(can.toSorted());
    expect((await operator.get(`/mail/retry?${selection}`)).text).toContain('Retry 2 messages');
    expect((await viewer.get(`/mail/retry?${selection}`)).text).toContain('Viewers cannot start a retry.');

    const run = async () => {
      const { status, headers } = await operator.post('/mail/retry', { selection });
      expect(status).toBe(303);
      const [id] = /[\da-f-]{36}/.exec(String(headers.get('location'))) ?? [];
      return eventually(async () => {
        const record = await BulkRun.findById(id).lean();
        return record?.state !== 'running' && record;
      });
    };
    expect(await run()).toMatchObject({ kind: 'retry-mail', state: 'done', total: 2, done: 1, skipped: 1 });

    const copies = (one: MessageRecord | undefined) => repeated(one as MessageRecord).then(({ length }) => length);
    expect(await Promise.all([plain, doubtful, other, gone].map(copies))).toEqual([1, 0, 0, 0]);
    expect(await lastEntry()).toMatchObject({ action: 'messages.retry', target: selection, outcome: 'done' });
    expect(await run()).toMatchObject({ total: 1, done: 0, skipped: 1 });
    expect(await copies(plain)).toBe(1);
  });

  test('when a viewer or another site asks, or the search is none of a retry, then nothing is retried', async () => {
    const message = await insertMessage(accountId, retrying());
    const path = `/mail/${String(message._id)}/retry`;

    expect((await viewer.post(path)).status).toBe(403);
    expect((await viewer.post('/mail/retry', { selection: 'state=retrying' })).status).toBe(403);
    expect((await operator.post(path, { csrf: 'guessed' })).status).toBe(403);
    expect((await operator.post(path, {}, { Origin: 'https://evil.example.com' })).status).toBe(403);
    for (const selection of ['state=accepted', 'state=failed&address=ada@example.com']) {
      const { status, text } = await operator.post('/mail/retry', { selection });
      expect([status, text]).toEqual([400, expect.stringContaining('can be retried')]);
    }
    expect(await storedMessage(message)).toEqual(message);
  });
});

test('when an account has more messages than are examined, then no search and no group reads more, each along an index, and the page says so', async () => {
  const fields = { ...failed(), recipients: [to('failed', { code: '550' }), to('suppressed')], due_at: at };
  const many = Array.from({ length: MESSAGES_EXAMINED_MAX + 50 }, () => messageOf(accountId, fields));
  await driverOf(Message).insertMany(many, { ignoreUndefined: true });
  const page = { skip: 0, limit: 51 };
  const run = { before: inMinutes(1), position: undefined, limit: 50 };
  const searches: MailSearch[] = [
    ...[
      { from: inMinutes(-60), to: inMinutes(60) },
      { state: 'failed' },
      { state: 'suppressed' },
      { state: 'waiting' },
    ],
    ...[
      { accountId, number: 'R-7' },
      { accountId, state: 'planned' },
      { accountId, address: 'ada@example.com' },
    ],
    ...[{ id: many[0]?.message_id }, { state: 'failed', cause: '551', address: 'grace@example.com' }],
  ] as MailSearch[];
  const asks = [
    ...searches.flatMap((search) => [() => searchMail(search, page), () => countMail(search)]),
    () => nextRetried({ state: 'failed', cause: '551' }, run),
    () => nextRetried({ state: 'retrying' }, run),
    () => findMailFailures(inMinutes(-60), 50),
  ];

  for (const ask of asks) {
    const plans = await plansOf(Message.collection.name, ask);
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.filter(({ isByIndex }) => !isByIndex)).toEqual([]);
    expect(Math.max(...plans.map(({ docsExamined }) => docsExamined))).toBeLessThanOrEqual(MESSAGES_EXAMINED_MAX);
    expect(Math.max(...plans.map(({ keysExamined }) => keysExamined))).toBeLessThanOrEqual(MESSAGES_EXAMINED_MAX + 2);
  }
  expect((await viewer.get('/mail?number=R-7')).text).toContain('Only 5,000 messages were looked at');
  expect((await viewer.get('/mail?state=failed')).text).toContain('5,000 or more messages match.');
});
