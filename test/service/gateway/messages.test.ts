// Mail over HTTP: sending documents, what callers see of messages, cancelling, resending, and what comes back.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { versionOf } from '#libs/documents/printed-content.ts';
import { issueApiKey, type Scope } from '#libs/models/accounts/api-key.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { keepOriginal } from '#libs/models/documents/original.ts';
import { unregisterMailService } from '#libs/models/messages/mail-service.ts';
import { Message } from '#libs/models/messages/message.ts';
import { findOwn } from '#libs/models/records.ts';
import { storedId } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { complaintReport, returned, statusReport } from '../../support/delivery-reports.ts';
import { callerOf, startGateway, type TestGateway, verbsOf } from '../../support/gateway.ts';
import { failWithoutRelay, leased, sendWithoutRelay, setUpMail } from '../../support/messages.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';
import { type AnyRecord, UNKNOWN_ID } from '../../support/records.ts';

let gateway: TestGateway;
let account: OwnAccount;
let client_id: string;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await setUpMail();
  account = await openOwnAccount(gateway, { name: 'Ada North', company: 'Studio North', locale: 'de-DE' });
  client_id = (await account.post('clients', { name: 'Ada', email: 'Ada@Example.com' })).id;
});

const draft = async (fields: object = {}) =>
  account.post('invoices', { client_id, amount: 1234.5, currency: 'EUR', due_date: '2099-12-31', ...fields });
const send = (path: string, body: object = {}) => account.api.post(`/api/v1/${path}/send`, body);
const eventTypes = async () => {
  const events = await Event.find({ account_id: account.id }).sort({ sequence: 1 }).lean();
  return events.map(({ type }) => type);
};

describe('a key of a program that passes on reports', () => {
  test('when it may not read the document, then it sends nothing of it again and reads no mail', async () => {
    const { id } = (await send(`invoices/${(await draft()).id}`)).body.data;
    await sendWithoutRelay(account.id, id);
    const scopes = ['messages:read', 'messages:write'];
    const { key } = await account.post('keys', { name: 'Reports', scopes });
    const resent = await account.api.post(`/api/v1/messages/${id}/resend`, { to: ['eve@example.com'] }, { key });
    const source = await account.api.get(`/api/v1/messages/${id}/source`, { key });
    const error = 'Forbidden: API key lacks the invoices:read scope';
    expect([resent.status, resent.body.error]).toEqual([403, error]);
    expect([source.status, source.body.error]).toEqual([403, error]);
  });
});

describe('send', () => {
  test('when a draft is sent, then it is issued in the same transaction, and a message is queued in the words of the account', async () => {
    const { id } = await draft();
    const { status, body } = await send(`invoices/${id}`);
    expect([status, body]).toMatchObject([
      202,
      {
        success: true,
        data: {
          kind: 'invoice',
          document: { type: 'invoice', id, number: 'INV-0001' },
          client: { id: client_id, name: 'Ada' },
          subject: 'Rechnung INV-0001 von Studio North',
          recipients: [{ address: 'ada@example.com', role: 'to', state: 'queued', code: null }],
          state: 'queued',
          attachments: [],
          send_at: null,
          accepted_at: null,
        },
      },
    ]);
    expect(body.data.message_id).toBe(`<${body.data.id}@mail.example.com>`);
    const invoice = await account.get(`invoices/${id}`);
    expect(invoice).toMatchObject({ status: 'Sent', delivery: { state: 'queued', last_message_id: body.data.id } });
    expect((await eventTypes()).filter((type) => type.startsWith('invoice.'))).toEqual([
      'invoice.created',
      'invoice.updated',
      'invoice.sent',
    ]);
    expect((await Message.findOne({ account_id: account.id }).lean())?.['body_template']).toContain('{amount_due}');
  });

  test('when quote, credit note and receipt are sent, then each has its own words', async () => {
    const { id: quote } = await account.post('quotes', { client_id, amount: 10 });
    const { id: invoice } = await draft({ status: 'Sent' });
    const { id: payment } = await account.post(`invoices/${invoice}/payments`, { amount: 1 });
    const { id: note } = await account.post(`invoices/${invoice}/credit-notes`, { reason: 'return' });
    const sent = [`quotes/${quote}`, `credit-notes/${note}`, `payments/${payment}`].map((path) => send(path));
    expect((await Promise.all(sent)).map(({ body }) => [body.data.kind, body.data.subject])).toEqual([
      ['quote', 'Angebot QUO-0001 von Studio North'],
      ['credit_note', 'Gutschrift CRN-0001 von Studio North'],
      ['receipt', 'Vielen Dank für Ihre Zahlung, PAY-0001'],
    ]);
    expect(await account.get(`quotes/${quote}`)).toMatchObject({ status: 'Sent', delivery: { state: 'queued' } });
  });

  test('when the caller has wishes, then recipients, words and time are as wished, and each address stands once', async () => {
    await account.api.patch('/api/v1/account', {
      mail: { from_name: 'North Billing', reply_to: 'reply@north.example', bcc: 'archive@north.example' },
    });
    const { id } = await draft({ status: 'Sent' });
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await send(`invoices/${id}`, {
      to: ['one@example.com', 'ONE@example.com'],
      cc: ['two@example.com'],
      bcc: ['one@example.com'],
      subject: 'Nr. {number}: {amount_due}',
      message: 'Hallo {client_name}',
      attach_pdf: false,
      send_at,
    });
    expect(body.data).toMatchObject({ state: 'planned', send_at, next_attempt_at: send_at });
    expect(body.data.subject).toMatch(/^Nr\. INV-0001: 1\.234,50\s€$/);
    expect(
      body.data.recipients.map(({ address, role, state }: Record<string, string>) => [address, role, state]),
    ).toEqual([
      ['one@example.com', 'to', 'planned'],
      ['two@example.com', 'cc', 'planned'],
      ['archive@north.example', 'bcc', 'planned'],
    ]);
    const stored = await Message.findOne({ account_id: account.id }).lean();
    expect(stored).toMatchObject({ attach_pdf: false });
  });

  test('when it is not said otherwise, then the mail has a link that allows what its sender may, also when it is sent again', async () => {
    const linkOf = async (id: string) => (await Message.findOne({ account_id: account.id, _id: id }).lean())?.['link'];
    const { id } = await draft({ status: 'Sent' });
    const { id: quote } = await account.post('quotes', { client_id, amount: 10, status: 'Sent' });
    const invoiced = (await send(`invoices/${id}`)).body.data.id;
    const allow = ['pay', 'promise', 'ask'];
    expect(await linkOf(invoiced)).toEqual({ type: 'invoice', allow, show_time: false });
    expect(await linkOf((await send(`invoices/${id}`, { include_link: false })).body.data.id)).toBeUndefined();
    await sendWithoutRelay(account.id, invoiced);
    const again = await account.api.post(`/api/v1/messages/${invoiced}/resend`, {});
    expect(await linkOf(again.body.data.id)).toMatchObject({ allow });
    expect(await linkOf((await send(`quotes/${quote}`)).body.data.id)).toMatchObject({ allow: ['accept', 'ask'] });
    const { key } = await issueApiKey({
      accountId: account.id,
      name: 'mailer',
      scopes: ['messages:write', 'quotes:read'],
    });
    const mailed = await verbsOf(callerOf(gateway.url, key)).post(`/api/v1/quotes/${quote}/send`, {});
    expect(await linkOf(mailed.body.data.id)).toMatchObject({ type: 'quote', allow: ['ask'] });
  });

  test('when the mail shall show the hours, then the page of its link does, also when it is sent again, for a key that reads time', async () => {
    const showsTime = async ({ body }: { body: { data: { id: string } } }) =>
      (await Message.findOne({ account_id: account.id, _id: body.data.id }).lean())?.['link'].show_time;
    const { id } = await draft({ status: 'Sent', due_date: '2020-01-01' });
    const sent = await send(`invoices/${id}`, { include_time: true });
    expect(await showsTime(sent)).toBe(true);
    expect(await showsTime(await account.api.post(`/api/v1/invoices/${id}/remind`, { include_time: true }))).toBe(true);
    await sendWithoutRelay(account.id, sent.body.data.id);
    const again = (api: typeof account.api) => api.post(`/api/v1/messages/${sent.body.data.id}/resend`, {});
    expect(await showsTime(await again(account.api))).toBe(true);
    const scopes = ['messages:write', 'invoices:read'] as const;
    const { key } = await issueApiKey({ accountId: account.id, name: 'mailer', scopes: [...scopes] });
    const mailer = verbsOf(callerOf(gateway.url, key));
    expect(await showsTime(await again(mailer))).toBe(false);
    expect(await mailer.post(`/api/v1/invoices/${id}/send`, { include_time: true })).toMatchObject({
      status: 403,
      body: { error: 'Forbidden: API key lacks the time-entries:read scope' },
    });
  });

  test('when the mail of a link that shows the statement is sent again, then the new one does only for a key that reads it', async () => {
    const { id } = await draft({ status: 'Sent' });
    const sent = (await send(`invoices/${id}`)).body.data.id;
    await sendWithoutRelay(account.id, sent);
    // The mail in place of a client's link that has expired has such a link.
    const link = { type: 'client', allow: ['ask'], show_time: false, show_statement: true };
    await Message.updateOne({ account_id: account.id, _id: sent }, { $set: { link } });
    const again = async (scopes: readonly Scope[]) => {
      const { key } = await issueApiKey({ accountId: account.id, name: 'mailer', scopes: [...scopes] });
      const { body } = await verbsOf(callerOf(gateway.url, key)).post(`/api/v1/messages/${sent}/resend`, {});
      return (await Message.findOne({ account_id: account.id, _id: body.data.id }).lean())?.['link'].show_statement;
    };
    const reads: Scope[] = ['messages:write', 'invoices:read', 'quotes:read', 'clients:read'];
    expect(await again([...reads, 'payments:read', 'credit-notes:read'])).toBe(true);
    expect(await again([...reads, 'payments:read'])).toBeUndefined();
    const { key } = await issueApiKey({ accountId: account.id, name: 'reader', scopes: [...reads, 'links:read'] });
    const source = await verbsOf(callerOf(gateway.url, key)).get(`/api/v1/messages/${sent}/source`);
    expect(source.body.error).toBe('Forbidden: API key lacks the payments:read scope');
  });

  test('when a receipt is of one invoice, then it has a link to it, by itself, by hand and again, if its sender may read it', async () => {
    const linkOf = async (id: string) => (await Message.findOne({ account_id: account.id, _id: id }).lean())?.['link'];
    await account.api.patch('/api/v1/account', { receipts: true });
    const { id } = await draft({ status: 'Sent' });
    const { id: payment } = await account.post(`invoices/${id}/payments`, { amount: 1 });
    const [receipt] = await account.get('messages?kind=receipt');
    const link = { type: 'invoice', allow: ['pay', 'promise', 'ask'], show_time: false, invoice_id: storedId(id) };
    expect(await linkOf(receipt.id)).toEqual(link);
    await sendWithoutRelay(account.id, receipt.id);
    expect(await linkOf((await account.api.post(`/api/v1/messages/${receipt.id}/resend`, {})).body.data.id)).toEqual(
      link,
    );

    const path = `payments/${payment}`;
    expect(await linkOf((await send(path)).body.data.id)).toEqual(link);
    expect(await linkOf((await send(path, { include_link: false })).body.data.id)).toBeUndefined();
    const scopes = ['messages:write', 'payments:read'] as const;
    const { key } = await issueApiKey({ accountId: account.id, name: 'mailer', scopes: [...scopes] });
    const mailer = verbsOf(callerOf(gateway.url, key));
    const sent = await mailer.post(`/api/v1/${path}/send`, {});
    expect([sent.status, await linkOf(sent.body.data.id)]).toEqual([202, undefined]);
    expect(await mailer.post(`/api/v1/${path}/send`, { include_link: true })).toMatchObject({
      status: 403,
      body: { code: 'scope_missing' },
    });

    const other = await draft({ status: 'Sent' });
    const { id: both } = await account.post('payments', { client_id, amount: 2_468, currency: 'EUR' });
    expect(await linkOf((await send(`payments/${both}`)).body.data.id)).toBeUndefined();
    expect((await account.get(`invoices/${other.id}`)).amount_paid).toBeGreaterThan(0);
  });

  test('when something is wrong with the body, then all of it is said at once and nothing is issued', async () => {
    const { id } = await draft();
    const past = new Date(Date.now() - 1_000).toISOString();
    const wrong = { to: ['no address'], subject: 'For {who}', message: '{valid_until} {x}', send_at: past };
    expect(await account.refused(`invoices/${id}/send`, wrong)).toEqual([
      400,
      {
        'to.0': ['to[0] must be a valid email'],
        subject: ['subject must not contain {who}: there is no such value in a mail of this kind'],
        message: ['message must not contain {valid_until}, {x}: there is no such value in a mail of this kind'],
        send_at: ['send_at must be within the next 366 days'],
      },
    ]);
    const many = Array.from({ length: 21 }, (_, index) => `a${index}@example.com`);
    expect((await account.refused(`invoices/${id}/send`, { to: many }))[0]).toBe(400);
    expect((await account.refused(`invoices/${id}/send`, { to: many.slice(0, 12), cc: many.slice(12) }))[0]).toBe(400);
    expect(await account.get(`invoices/${id}`)).toMatchObject({ status: 'Draft', delivery: null });
  });

  test('when mail cannot be sent, then 409 says why, and the draft stays a draft', async () => {
    const { id } = await draft();
    const refused = async (body: object = {}) => (await account.refused(`invoices/${id}/send`, body))[1];
    await unregisterMailService();
    expect(await refused()).toBe('Mail is not set up');
    await setUpMail();
    await account.api.patch('/api/v1/account', { require_client_email: false });
    await account.api.patch(`/api/v1/clients/${client_id}`, { email: null });
    expect(await refused()).toBe('Client has no usable address');
    expect(await refused({ to: [] })).toBe('Client has no usable address');
    expect(await account.get(`invoices/${id}`)).toMatchObject({ status: 'Draft' });
    const cancelled = await draft({ status: 'Sent' });
    await account.api.patch(`/api/v1/invoices/${cancelled.id}`, { status: 'Cancelled' });
    expect(await account.refused(`invoices/${cancelled.id}/send`, { to: ['a@example.com'] })).toEqual([
      409,
      'Cannot send INV-0002: it is Cancelled',
    ]);
    expect((await account.get('messages')).length).toBe(0);
  });

  test('when a key may not change invoices, then it may send one that is issued, and no draft', async () => {
    const { id } = await draft();
    const { key } = await issueApiKey({
      accountId: account.id,
      name: 'mail',
      scopes: ['messages:write', 'invoices:read'],
    });
    const api = verbsOf(callerOf(gateway.url, key));
    const refused = await api.post(`/api/v1/invoices/${id}/send`, {});
    expect([refused.status, refused.body.error]).toEqual([403, 'Forbidden: API key lacks the invoices:write scope']);
    await account.api.patch(`/api/v1/invoices/${id}`, { status: 'Sent' });
    expect((await api.post(`/api/v1/invoices/${id}/send`, {})).status).toBe(202);
  });

  test('when a request is repeated with its key, then one mail is queued', async () => {
    const { id } = await draft();
    const again = () => account.api.post(`/api/v1/invoices/${id}/send`, {}, { headers: { 'Idempotency-Key': 'once' } });
    const [one, other] = [await again(), await again()];
    expect(other.body).toEqual(one.body);
    expect((await account.get('messages')).length).toBe(1);
  });

  test('when the account is a test, then its mail says so', async () => {
    const { key } = await gateway.workspace.account({ mode: 'test' });
    const api = verbsOf(callerOf(gateway.url, key));
    const client = (await api.post('/api/v1/clients', { name: 'Ada', email: 'ada@example.com' })).body.data;
    const invoice = { client_id: client.id, amount: 1, due_date: '2099-12-31' };
    const { id } = (await api.post('/api/v1/invoices', invoice)).body.data;
    expect((await api.post(`/api/v1/invoices/${id}/send`, {})).body.data.subject).toMatch(/^\[TEST\] Invoice INV-0001/);
  });
});

describe('receipts', () => {
  const receipts = async () => account.get('messages?kind=receipt');

  test('when the account wants them, then each payment has one, of whatever way it was booked', async () => {
    const { id } = await draft({ status: 'Sent' });
    await account.post(`invoices/${id}/payments`, { amount: 1 });
    expect(await receipts()).toEqual([]);
    await account.api.patch('/api/v1/account', { receipts: true });
    const payment = await account.post(`invoices/${id}/payments`, { amount: 1, external_id: 'bank-1' });
    await account.api.post(`/api/v1/invoices/${id}/payments`, { amount: 1, external_id: 'bank-1' });
    expect((await account.api.post(`/api/v1/invoices/${id}/payments?dry_run=true`, { amount: 1 })).status).toBe(200);
    await account.api.patch(`/api/v1/invoices/${id}`, { status: 'Paid' });
    expect(await receipts()).toMatchObject([
      { document: { type: 'payment', number: 'PAY-0003' } },
      { document: { type: 'payment', id: payment.id, number: 'PAY-0002' }, state: 'queued' },
    ]);
    expect(await account.get(`invoices/${id}`)).toMatchObject({ status: 'Paid', delivery: null });
  });

  test('when a receipt cannot be sent, then the payment is booked all the same', async () => {
    await account.api.patch('/api/v1/account', { receipts: true, require_client_email: false });
    const { id } = await draft({ status: 'Sent' });
    await unregisterMailService();
    await account.post(`invoices/${id}/payments`, { amount: 1 });
    await setUpMail();
    await account.api.patch(`/api/v1/clients/${client_id}`, { email: null });
    await account.post(`invoices/${id}/payments`, { amount: 1 });
    expect(await receipts()).toEqual([]);
  });
});

describe('messages', () => {
  const queued = async () => {
    const { id } = await draft();
    return (await send(`invoices/${id}`)).body.data;
  };

  test('when they are listed, then each filter finds its own', async () => {
    const first = await queued();
    const second = await queued();
    await sendWithoutRelay(account.id, second.id);
    const found = async (query: string) => (await account.get(`messages?${query}`)).map(({ id }: { id: string }) => id);
    expect(await found('')).toEqual([second.id, first.id]);
    expect(await found('state=accepted')).toEqual([second.id]);
    expect(await found(`document_id=${first.document.id}`)).toEqual([first.id]);
    expect(await found(`client_id=${client_id}&kind=invoice`)).toEqual([second.id, first.id]);
    expect(await found('kind=quote')).toEqual([]);
    expect(await found('recipient=ADA@example.com')).toEqual([second.id, first.id]);
    expect(await found('recipient=eve@example.com')).toEqual([]);
    expect(await found(`updated_since=${encodeURIComponent(new Date(Date.now() + 60_000).toISOString())}`)).toEqual([]);
  });

  test('when a message was accepted, then it, its document and an event say so, and its mail can be read', async () => {
    const { id, document } = await queued();
    expect((await account.api.get(`/api/v1/messages/${id}/source`)).body.error).toBe('The mail is not made yet');
    await sendWithoutRelay(account.id, id);
    const message = await account.get(`messages/${id}`);
    expect(message).toMatchObject({
      state: 'accepted',
      recipients: [{ state: 'accepted' }],
      attempts: [{ code: '250', text: 'queued as 7', duration_ms: 12 }],
      next_attempt_at: null,
      accepted_at: expect.any(String),
    });
    expect(await account.get(`invoices/${document.id}`)).toMatchObject({ delivery: { state: 'accepted' } });
    expect(await eventTypes()).toContain('message.accepted');
    const source = await account.api.get(`/api/v1/messages/${id}/source`);
    expect(source.headers.get('content-type')).toBe('message/rfc822');
  });

  test('when the address of the client changes, then mail that waits goes to the new one, and mail that left or leaves stays', async () => {
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const invoices = [await draft(), await draft(), await draft(), await draft(), await draft()];
    const bodies = [{ send_at }, { cc: ['Ada@example.com', 'new@example.com'], to: ['b@example.com'] }, {}, {}, {}];
    const sent: AnyRecord[] = [];
    for (const [index, body] of bodies.entries())
      sent.push((await send(`invoices/${invoices[index]?.id}`, body)).body.data);
    const [, , leftOne, tried, taken] = sent.map(({ id }) => String(id));
    await sendWithoutRelay(account.id, leftOne as string);
    await Message.updateOne({ account_id: account.id, _id: tried }, { attempts_made: 1 });
    await leased(account.id, taken as string);
    const before = (await account.get(`messages/${sent[0]?.id}`)).updated_at;

    const { status } = await account.api.patch(`/api/v1/clients/${client_id}`, { email: 'New@example.com' });

    const addresses = async ({ id }: AnyRecord) =>
      (await account.get(`messages/${id}`)).recipients.map(({ address }: AnyRecord) => address).join();
    expect([status, await Promise.all(sent.map(addresses))]).toEqual([
      200,
      ['new@example.com', 'b@example.com,new@example.com', 'ada@example.com', 'new@example.com', 'ada@example.com'],
    ]);
    expect((await account.get(`messages/${sent[0]?.id}`)).updated_at > before).toBe(true);
    expect(await account.get('messages?recipient=new@example.com')).toHaveLength(3);
  });

  test('when the client has no address any more, then mail that waits goes to the others, and one without any is cancelled', async () => {
    await account.api.patch('/api/v1/account', { require_client_email: false, mail: { bcc: 'archive@north.example' } });
    const bodies = [{}, { cc: ['tax@example.com'] }, { to: ['bob@example.com'] }, {}];
    const ids: string[] = [];
    for (const body of bodies) ids.push((await send(`invoices/${(await draft()).id}`, body)).body.data.id);
    await Message.updateOne({ account_id: account.id, _id: ids[3] }, { attempts_made: 1 });

    expect((await account.api.patch(`/api/v1/clients/${client_id}`, { email: null })).status).toBe(200);

    const after = await Promise.all(ids.map((id) => account.get(`messages/${id}`)));
    const recipients = after.map((message) =>
      message['recipients'].map(({ role, address }: AnyRecord) => [role, address]),
    );
    expect(after.map(({ state }) => state)).toEqual(['cancelled', 'queued', 'queued', 'cancelled']);
    expect(after[0]?.['attempts'][0].text).toBe('The client has no address any more');
    expect(recipients.slice(1, 3)).toEqual([
      [
        ['to', 'tax@example.com'],
        ['bcc', 'archive@north.example'],
      ],
      [
        ['to', 'bob@example.com'],
        ['bcc', 'archive@north.example'],
      ],
    ]);
  });

  test('when the archive of the account changes, then mail that waits goes to the new one, and without one to the others', async () => {
    const archive = async (bcc: string | null) =>
      expect((await account.api.patch('/api/v1/account', { mail: { bcc } })).status).toBe(200);
    await archive('old@north.example');
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const { id } = (await send(`invoices/${(await draft()).id}`, { send_at })).body.data;
    const recipients = async () =>
      (await account.get(`messages/${id}`))['recipients'].map(({ address }: AnyRecord) => address);

    await archive('New@north.example');
    expect(await recipients()).toEqual(['ada@example.com', 'new@north.example']);
    // The address of the client is in the header, also where a blind copy went there.
    await account.api.patch(`/api/v1/clients/${client_id}`, { email: 'new@north.example' });
    expect(await recipients()).toEqual(['new@north.example']);
    await account.api.patch(`/api/v1/clients/${client_id}`, { email: 'ada@example.com' });
    await archive(null);

    expect(await recipients()).toEqual(['ada@example.com']);
  });

  test('when the due date is moved, then a reminder is not sent again before it comes, and an early step is', async () => {
    const { id } = await draft({ due_date: '2020-01-01', status: 'Sent' });
    const byHand = (await account.api.post(`/api/v1/invoices/${id}/remind`)).body.data;
    await failWithoutRelay(account.id, byHand.id, 'giveUp');
    await account.api.patch(`/api/v1/invoices/${id}`, { due_date: '2099-12-31' });

    expect(await account.refused(`messages/${byHand.id}/resend`, {})).toEqual([
      409,
      'Cannot remind about an invoice that is not due',
    ]);
    const early = { days: -3, early: true, amount_due: 123_450, currency: 'EUR' };
    await Message.updateOne({ account_id: account.id, _id: byHand.id }, { reminder: early });
    const again = await account.api.post(`/api/v1/messages/${byHand.id}/resend`, {});
    expect([again.status, again.body.data?.reminder]).toEqual([
      202,
      { days: null, amount_due: 1_234.5, currency: 'EUR' },
    ]);
  });

  test('when a message is cancelled, then it never leaves, and one that left cannot be', async () => {
    const { id, document } = await queued();
    const cancelled = await account.api.post(`/api/v1/messages/${id}/cancel`);
    expect([cancelled.status, cancelled.body.data.state]).toEqual([200, 'cancelled']);
    expect(await account.get(`invoices/${document.id}`)).toMatchObject({
      status: 'Sent',
      delivery: { state: 'cancelled' },
    });
    await expect(sendWithoutRelay(account.id, id)).rejects.toThrow('cannot acquire');
    expect((await account.api.post(`/api/v1/messages/${id}/cancel`)).body.error).toBe(
      'Cannot cancel a message that is cancelled',
    );
    const leased = await queued();
    const lease = { lease_id: 'a worker', lease_until: new Date(Date.now() + 60_000) };
    await Message.collection.updateOne({ _id: storedId(leased.id) as never }, { $set: lease });
    expect((await account.api.post(`/api/v1/messages/${leased.id}/cancel`)).status).toBe(409);
  });

  test('when the quote of a message was given to another client, then it cannot be sent again', async () => {
    const { id: other } = await account.post('clients', { name: 'Bob', email: 'bob@example.com' });
    const quote = await account.post('quotes', { client_id, amount: 10, status: 'Sent' });
    const { id } = (await send(`quotes/${quote.id}`)).body.data;
    await failWithoutRelay(account.id, id, 'giveUp');
    for (const change of [{ status: 'Draft' }, { client_id: other }, { status: 'Sent' }])
      expect((await account.api.patch(`/api/v1/quotes/${quote.id}`, change)).status).toBe(200);
    const { status, body } = await account.api.post(`/api/v1/messages/${id}/resend`, {});
    expect([status, body.error]).toEqual([409, 'Cannot send a message again whose document has another client now']);
  });

  test('when a message is sent again, then it is a new one with the same words, once the first has ended', async () => {
    const { id } = await queued();
    expect((await account.api.post(`/api/v1/messages/${id}/resend`, {})).body.error).toBe(
      'Cannot send a message again that is queued',
    );
    await failWithoutRelay(account.id, id, 'giveUp');
    const again = await account.api.post(`/api/v1/messages/${id}/resend`, { to: ['ada@example.org'] });
    expect([again.status, again.body.data]).toMatchObject([
      202,
      { resend_of: id, state: 'queued', recipients: [{ address: 'ada@example.org' }] },
    ]);
    expect(await account.refused(`messages/${id}/resend`, { cc: ['ada@example.org'] })).toMatchObject([400, {}]);
    expect((await account.get(`messages/${id}`)).state).toBe('failed');
    // So that an operator does not send it to the former address again.
    const first = await Message.findOne({ account_id: account.id, _id: id }).lean();
    expect(first?.['resent_as']).toEqual(storedId(again.body.data.id));
  });
});

describe('files that are too large for a mail', () => {
  const MIB = 2 ** 20;
  const attach = (id: string, mib: number) => {
    const file = Buffer.concat([Buffer.from('%PDF-'), Buffer.alloc(mib * MIB - 5)]).toString('base64');
    const attachments = [{ name: 'plan.pdf', file }];
    return account.api.call('PUT', `/api/v1/invoices/${id}/attachments`, { body: { attachments } });
  };
  /** Keeps an original of this size, as a print of the issued invoice does. */
  const keep = async (id: string, mib: number) => {
    const record = await findOwn(Invoice, account.id, id);
    if (!record) throw new Error('no such invoice');
    const made = { bytes: Buffer.alloc(mib * MIB), warnings: [] };
    expect(await keepOriginal(account.id, versionOf('invoice', record), made, undefined)).toBeDefined();
  };

  test('when PDF and files are too large together, then it is 422 that names the size, and without the PDF they are sent', async () => {
    const { id } = await draft();
    expect((await attach(id, 4)).status).toBe(200);
    await account.api.patch(`/api/v1/invoices/${id}`, { status: 'Sent' });
    await keep(id, 8);

    const { status, body } = await send(`invoices/${id}`);

    expect([status, body.error, body.code]).toEqual([
      422,
      'The files of the mail have 12 MiB together, at most 10.5 MiB are sent',
      'mail_files_too_large',
    ]);
    expect(await account.get('messages')).toEqual([]);
    expect((await send(`invoices/${id}`, { attach_pdf: false })).status).toBe(202);
  });

  test('when they fit, or are not printed yet, then the invoice is sent', async () => {
    const ids = [(await draft()).id, (await draft()).id];
    for (const id of ids) expect((await attach(id, 4)).status).toBe(200);
    expect((await send(`invoices/${ids[0]}`)).status).toBe(202);
    await account.api.patch(`/api/v1/invoices/${ids[1]}`, { status: 'Sent' });
    await keep(ids[1] as string, 6);
    expect((await send(`invoices/${ids[1]}`)).status).toBe(202);
  });
});

describe('a client without an address', () => {
  const mailed = async (fields: object = {}) => {
    await account.api.patch('/api/v1/account', { require_client_email: false });
    const { id: nameless } = await account.post('clients', { name: 'Bob' });
    return (await draft({ client_id: nameless, due_date: '2020-01-01', status: 'Sent', ...fields })).id;
  };
  const to = (message: AnyRecord) => message['recipients'].map(({ address }: AnyRecord) => address);

  test('when its invoice was taken by others, then reminders and receipts go to those, and to no one that it came back from', async () => {
    await account.api.patch('/api/v1/account', { receipts: true });
    const id = await mailed();
    expect(await account.refused(`invoices/${id}/remind`, {})).toEqual([409, 'Client has no usable address']);
    const wishes = { to: ['bob@work.example', 'eve@work.example', 'max@work.example'], cc: ['tax@work.example'] };
    const first = (await send(`invoices/${id}`, wishes)).body.data;
    expect(await account.refused(`invoices/${id}/remind`, {})).toEqual([409, 'Client has no usable address']);
    await sendWithoutRelay(account.id, first.id);
    await account.api.post('/api/v1/messages/bounces', {
      ...{ message_id: first.id, recipient: 'eve@work.example', kind: 'hard' },
    });
    const other = (await send(`invoices/${(await draft()).id}`, { to: ['max@work.example'] })).body.data;
    await sendWithoutRelay(account.id, other.id);
    await account.api.post('/api/v1/messages/bounces', {
      ...{ message_id: other.id, recipient: 'max@work.example', kind: 'hard' },
    });

    const reminder = await account.api.post(`/api/v1/invoices/${id}/remind`);
    await account.post(`invoices/${id}/payments`, { amount: 10 });

    expect([reminder.status, to(reminder.body.data)]).toEqual([202, ['bob@work.example']]);
    expect((await account.get('messages?kind=receipt')).map(to)).toEqual([['bob@work.example']]);
  });
});

describe('a suppressed address that two clients share', () => {
  const suppressions = async () => (await account.get('suppressions')).map(({ address }: AnyRecord) => address);
  const bounced = async () => {
    const { id } = await draft();
    const message = (await send(`invoices/${id}`)).body.data;
    await sendWithoutRelay(account.id, message.id);
    await account.api.post('/api/v1/messages/bounces', {
      ...{ message_id: message.id, recipient: 'ada@example.com', kind: 'hard' },
    });
    expect(await suppressions()).toEqual(['ada@example.com']);
  };
  const anonymise = async (id: string) =>
    expect((await account.api.post(`/api/v1/clients/${id}/anonymise`)).status).toBe(200);

  test('when one of them is anonymised, then it stays until the other one is', async () => {
    await bounced();
    const { id: other } = await account.post('clients', { name: 'Bob', email: 'ADA@example.COM' });

    await anonymise(client_id);
    expect(await suppressions()).toEqual(['ada@example.com']);
    await anonymise(other);

    expect(await suppressions()).toEqual([]);
  });

  test('when the other one was only mailed at it, then it stays, too, and without another one it goes', async () => {
    const { id: other } = await account.post('clients', { name: 'Bob', email: 'bob@example.com' });
    await send(`invoices/${(await draft({ client_id: other })).id}`, { to: ['ada@example.com'] });
    await bounced();

    await anonymise(client_id);
    expect(await suppressions()).toEqual(['ada@example.com']);
    await anonymise(other);

    expect(await suppressions()).toEqual([]);
  });
});

test('when a client is anonymised, then events about its mail keep no address and no words', async () => {
  const { id } = await draft({ due_date: '2020-01-01' });
  const mail = { to: ['ada@private.example'], subject: 'For Ada alone' };
  const message = (await send(`invoices/${id}`, mail)).body.data;
  await sendWithoutRelay(account.id, message.id);
  const reminder = (await account.api.post(`/api/v1/invoices/${id}/remind`, mail)).body.data;
  await sendWithoutRelay(account.id, reminder.id);
  const bodies = async () =>
    (await Event.find({ account_id: account.id, type: /^(message|reminder)/ }).lean()).map(({ body }) => body);
  const sent = await bodies();
  expect(sent).toHaveLength(3);
  for (const body of sent) expect(body).toContain('ada@private.example');
  await account.api.post(`/api/v1/clients/${client_id}/anonymise`);
  expect((await bodies()).join()).not.toMatch(/ada@private|For Ada alone/);
  expect(JSON.stringify(await account.get(`messages/${message.id}`))).not.toMatch(/ada@private|For Ada alone/);
});

describe('what comes back', () => {
  const report = (message_id: string, body: object = {}) =>
    account.api.post('/api/v1/messages/bounces', { message_id, recipient: 'Ada@example.com', kind: 'hard', ...body });

  test('when a mail bounces, then the recipient has it once, the address is suppressed, and can be freed', async () => {
    const { id } = await draft();
    const message = (await send(`invoices/${id}`, { cc: ['b@example.com'] })).body.data;
    await sendWithoutRelay(account.id, message.id);
    await report(message.id, { kind: 'soft', code: '450', text: 'mailbox full' });
    expect((await account.get(`messages/${message.id}`)).recipients).toMatchObject([
      { state: 'accepted', code: '450' },
      {},
    ]);
    const reported = await report(message.message_id, { code: '550 5.1.1', text: 'no such user' });
    expect([reported.status, reported.body.data.recipients]).toMatchObject([
      200,
      [{ state: 'bounced', code: '550 5.1.1', text: 'no such user' }, { state: 'accepted' }],
    ]);
    await report(message.message_id.slice(1, -1));
    expect((await eventTypes()).filter((type) => type === 'message.bounced')).toHaveLength(1);
    expect(await account.get(`invoices/${id}`)).toMatchObject({ delivery: { state: 'bounced' } });

    expect(await account.get('suppressions')).toMatchObject([
      { address: 'ada@example.com', reason: 'bounce', message_id: message.id },
    ]);
    expect((await account.refused(`invoices/${id}/send`, {}))[1]).toBe('Recipient is suppressed: ada@example.com');
    const freed = await account.api.delete('/api/v1/suppressions/ADA%40example.com');
    expect([freed.status, freed.body]).toEqual([200, { success: true, message: 'Suppression deleted' }]);
    expect((await account.api.delete('/api/v1/suppressions/ada@example.com')).body.error).toBe(
      'Suppression not found or access denied',
    );
    expect((await send(`invoices/${id}`)).status).toBe(202);
  });

  test('when the address for blind copies of the account bounces, then mail goes to the others, of every kind', async () => {
    const settings = { mail: { bcc: 'Archive@example.com' }, receipts: true };
    expect((await account.api.patch('/api/v1/account', settings)).status).toBe(200);
    const { id } = await draft();
    const message = (await send(`invoices/${id}`)).body.data;
    await sendWithoutRelay(account.id, message.id);
    await report(message.id, { recipient: 'archive@example.com' });

    const again = await send(`invoices/${id}`, { cc: ['b@example.com'] });
    await account.post(`invoices/${id}/payments`, { amount: 1 });

    const addresses = (sent: { recipients: { address: string }[] }) => sent.recipients.map(({ address }) => address);
    expect([again.status, addresses(again.body.data)]).toEqual([202, ['ada@example.com', 'b@example.com']]);
    expect((await account.get('messages?kind=receipt')).map(addresses)).toEqual([['ada@example.com']]);
    const named = await account.refused(`invoices/${id}/send`, { to: ['archive@example.com'] });
    expect(named).toEqual([409, 'Recipient is suppressed: archive@example.com']);
    await account.api.delete('/api/v1/suppressions/archive@example.com');
    expect(addresses((await send(`invoices/${id}`)).body.data)).toEqual(['ada@example.com', 'archive@example.com']);
  });

  test('when the domain of an address has umlauts, then a report may write it in ASCII, and so may a caller', async () => {
    const { id } = await draft();
    const message = (await send(`invoices/${id}`, { to: ['ada@bücher.example'] })).body.data;
    await sendWithoutRelay(account.id, message.id);

    const reported = await report(message.id, { recipient: 'Ada@xn--bcher-kva.example' });

    expect([reported.status, reported.body.data?.recipients]).toMatchObject([
      200,
      [{ address: 'ada@bücher.example', state: 'bounced' }],
    ]);
    for (const address of ['ada@bücher.example', 'ADA@xn--bcher-kva.example'])
      expect(await account.refused(`invoices/${id}/send`, { to: [address] })).toEqual([
        409,
        `Recipient is suppressed: ${address.toLowerCase()}`,
      ]);
    expect((await account.api.delete('/api/v1/suppressions/ada@xn--bcher-kva.example')).status).toBe(200);
    expect((await send(`invoices/${id}`, { to: ['ada@bücher.example'] })).status).toBe(202);
  });

  const postRaw = async (mail: Buffer | string, { key = account.key, type = 'message/rfc822' } = {}) => {
    const response = await fetch(`${gateway.url}/api/v1/messages/bounces`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': type },
      body: new Uint8Array(Buffer.from(mail)),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the body of any answer.
    return { status: response.status, body: (await response.json()) as any };
  };

  test('when a mail server passes its report on, then it is booked, once, and only the sender knows the message', async () => {
    const { id } = await draft();
    const message = (await send(`invoices/${id}`, { cc: ['b@example.com'] })).body.data;
    const reported = { id: message.id, recipient: 'ada@example.com' };
    const postfix = (returned['Postfix'] as (one: typeof reported) => Buffer)(reported);
    await sendWithoutRelay(account.id, message.id);
    const full = 'Final-Recipient: rfc822; b@example.com\nAction: failed\nStatus: 5.2.2';
    await postRaw(statusReport({ reported, fields: full }));
    const [first] = [await postRaw(postfix), await postRaw(postfix)];
    expect([first?.status, first?.body.data.recipients]).toMatchObject([
      200,
      [
        { state: 'bounced', code: '550 5.1.1' },
        { address: 'b@example.com', state: 'bounced', code: '5.2.2' },
      ],
    ]);
    expect((await eventTypes()).filter((type) => type === 'message.bounced')).toHaveLength(2);
    // A full mailbox is no reason to write to the address never again.
    expect(await account.get('suppressions')).toMatchObject([{ address: 'ada@example.com', message_id: message.id }]);
    const complained = await postRaw(complaintReport({ ...reported, recipient: 'b@example.com' }), {
      type: 'Message/RFC822; charset=utf-8',
    });
    expect(complained.body.data.recipients[1].state).toBe('complained');
    const stranger = await openOwnAccount(gateway);
    const foreign = await postRaw(postfix, { key: stranger.key });
    expect([foreign.status, foreign.body.error]).toEqual([404, 'Message not found or access denied']);
  });

  test('when a raw report cannot be booked, then the error says why', async () => {
    const { id } = await draft();
    const message = (await send(`invoices/${id}`, { cc: ['b@example.com'] })).body.data;
    const own = statusReport({
      reported: { id: message.id, recipient: 'x@example.com' },
      fields: 'Final-Recipient: rfc822; x@example.com\nAction: failed',
    });
    const nameless = String(own).replaceAll(message.id, 'unknown');
    const replies = [
      await postRaw('Subject: Hello\r\n\r\nHi'),
      await postRaw(own),
      await postRaw(nameless.replace(/^Message-ID.*$/m, '')),
    ];
    replies.push(
      await postRaw(nameless),
      await postRaw(Buffer.alloc(10 * 2 ** 20, 'a')),
      await postRaw('x', { type: 'text/plain' }),
    );
    expect(replies.map(({ status, body }) => [status, body.details?.body?.[0] ?? body.error])).toEqual([
      [400, 'body is no delivery report that can be read'],
      [400, 'body names no recipient of the message'],
      [400, 'body names no message: neither its return path nor its Message-ID'],
      [404, 'Message not found or access denied'],
      [413, 'Request body is too large'],
      [415, 'Content-Type must be application/json'],
    ]);
  });

  test('when a copy of a message that is tried again comes back, then its recipient has bounced at once and gets no other', async () => {
    const { id } = await draft();
    const message = (await send(`invoices/${id}`)).body.data;
    expect((await report(message.id)).body.data).toMatchObject({ state: 'queued', recipients: [{ state: 'bounced' }] });
  });

  test("when a report names another account's message, or none, then it is 404 with the same words", async () => {
    const { id } = await draft();
    const message = (await send(`invoices/${id}`)).body.data;
    const other = await openOwnAccount(gateway);
    const foreign = { message_id: message.message_id, recipient: 'ada@example.com', kind: 'hard' };
    const unknown = { ...foreign, message_id: UNKNOWN_ID };
    const answers = [
      await other.refused('messages/bounces', foreign),
      await other.refused('messages/bounces', unknown),
    ];
    expect(answers).toEqual([
      [404, 'Message not found or access denied'],
      [404, 'Message not found or access denied'],
    ]);
    expect((await report(message.id, { recipient: 'eve@example.com' })).body.details).toEqual({
      recipient: ['recipient is not a recipient of the message'],
    });
  });
});
