// An account's own mail server over HTTP: what may be set, what is never shown, and which messages leave by it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findMailServer } from '#libs/models/messages/mail-server.ts';
import { unregisterMailService } from '#libs/models/messages/mail-service.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type OwnAccount, openOwnAccount } from '../../support/own-account.ts';

const AT = '/api/v1/account/mail-server';
const SERVER = {
  host: 'SMTP.North.example',
  port: 587,
  user: 'ada',
  password: 'p@ss-word',
  from: 'billing@north.example',
};

let gateway: TestGateway;
let account: OwnAccount;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  account = await openOwnAccount(gateway);
});

const put = (fields: object = {}) => gateway.call('PUT', AT, { body: { ...SERVER, ...fields }, key: account.key });
const problemsOf = async (fields: object) => {
  const { status, body } = await put(fields);
  return [status, body.details];
};
const password = async () => {
  const server = await findMailServer(account.id);
  return server?.secret && openSecretBox(gateway.workspace.secretKey).open(server.secret);
};

test('when a server is set, then it is shown without its password, which is stored sealed', async () => {
  const { status, body } = await put();
  expect([status, body.data]).toMatchObject([
    200,
    { host: 'smtp.north.example', port: 587, tls: 'starttls', user: 'ada', from: 'billing@north.example', test: null },
  ]);
  const server = await findMailServer(account.id);
  expect(JSON.stringify([body, await account.get('account/mail-server'), server])).not.toContain(SERVER.password);
  expect(await password()).toBe(SERVER.password);
  expect((await put({ port: 465 })).body.data.tls).toBe('implicit');
});

test('when a server is set again without a password, then that of the same login stays, and no other place ever gets it', async () => {
  await put();
  const { password: _, ...rest } = SERVER;
  const again = (fields: object) => gateway.call('PUT', AT, { body: { ...rest, ...fields }, key: account.key });
  expect((await again({ from: 'other@north.example' })).status).toBe(200);
  expect(await password()).toBe(SERVER.password);
  const elsewhere = [
    await again({ host: 'smtp.evil.example' }),
    await again({ port: 25 }),
    await again({ user: 'eve' }),
  ];
  expect(elsewhere.map(({ status, body }) => [status, body.details])).toEqual(
    Array(3).fill([400, { password: ['password is required with user'] }]),
  );
});

test('when something is wrong, then it is 400 and says what', async () => {
  expect(await problemsOf({ host: '10.0.0.5' })).toEqual([
    400,
    { host: ['host must be the name of a public mail server (address)'] },
  ]);
  for (const host of ['localhost.local', '167772165', '0x0a.1', 'metadata.internal', 'a@b', 'a/b', 'a:25'])
    expect([host, (await problemsOf({ host }))[0]]).toEqual([host, 400]);
  expect(await problemsOf({ port: 80 })).toEqual([400, { port: ['port must be 25, 465 or 587'] }]);
  expect(await problemsOf({ user: null })).toEqual([400, { user: ['user is required with password'] }]);
  const { body } = await put({ from: 'no address', host: '', tls: 'none' });
  expect(Object.keys(body.details).toSorted()).toEqual(['from', 'host', 'tls']);
});

test('when a test is asked for, then it waits for the mail service, once, and a new server has none', async () => {
  await put();
  const asked = [await account.api.post(`${AT}/test`), await account.api.post(`${AT}/test`)];
  expect(asked.map(({ status, body }) => [status, body.data.test.state])).toEqual(Array(2).fill([202, 'waiting']));
  expect(asked[0]?.body.data.test.requested_at).toBe(asked[1]?.body.data.test.requested_at);
  expect((await put()).body.data.test).toBeNull();
});

test('when there is none, or another account asks, then it is 404', async () => {
  await put();
  const stranger = await openOwnAccount(gateway);
  const replies = [await stranger.api.get(AT), await stranger.api.post(`${AT}/test`), await stranger.api.delete(AT)];
  expect(replies.map(({ status, body }) => [status, body.error])).toEqual(
    Array(3).fill([404, 'Mail server not found']),
  );
});

describe('messages', () => {
  const send = async () => {
    const client_id = (await account.post('clients', { name: 'Ada', email: 'ada@example.com' })).id;
    const { id } = await account.post('invoices', { client_id, amount: 1, due_date: '2099-12-31' });
    return (await account.api.post(`/api/v1/invoices/${id}/send`)).body;
  };

  test('when the installation has no mail server, then an account with its own sends, and without it does not', async () => {
    await unregisterMailService();
    expect((await send()).error).toBe('Mail is not set up');
    await put();
    const { data } = await send();
    expect(data).toMatchObject({ sender: 'billing@north.example', message_id: `<${data.id}@north.example>` });
    await put({ bounce_domain: 'Bounces.North.example' });
    expect((await send()).data.message_id).toMatch(/@bounces\.north\.example>$/);
    // A header has a domain in ASCII.
    await put({ bounce_domain: null, from: 'rechnung@müller.example' });
    expect((await send()).data.message_id).toMatch(/@xn--mller-kva\.example>$/);
    expect((await account.api.delete(AT)).body).toEqual({ success: true, message: 'Mail server deleted' });
    expect((await send()).error).toBe('Mail is not set up');
  });
});
