// Links to the portal: who makes them, how long they last, how many there are, and how they open.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BROWSERS_MAX, LINKS_MAX, PortalLink } from '#libs/models/portal/portal-link.ts';
import { PortalSession } from '#libs/models/portal/portal-session.ts';
import { newId } from '#libs/models/tenant.ts';
import { hashToken } from '#libs/models/token.ts';
import { makeApp } from '../../../services/gateway/app.ts';
import { appOptionsFor, callerOf, startGateway, type TestGateway } from '../../support/gateway.ts';
import { pathOf, startPortal, type TestPortal } from '../../support/portal.ts';
import type { TestAccount } from '../../support/workspace.ts';

const path = '/api/v1/webhooks/portal-link';
const HOUR_MS = 3_600_000;

let gateway: TestGateway;
let portal: TestPortal;
beforeAll(async () => {
  gateway = await startGateway();
  portal = await startPortal(gateway.workspace);
});
afterAll(async () => {
  await portal.close();
  await gateway.close();
});

const tokenOf = (url: string) => url.split('/').at(-1) ?? '';
const make = (account: TestAccount, headers = {}) => gateway.post(path, undefined, { key: account.key, headers });

describe('a link', () => {
  test('when it is made, then it lasts an hour and the database has only the hash of its token', async () => {
    const account = await gateway.workspace.account();
    const before = Date.now();

    const { status, body } = await make(account);

    expect(status).toBe(201);
    const { id, url, expires_at } = body.data;
    expect(url).toMatch(/^https:\/\/portal\.example\.com\/developer\/open\/[\w-]{43}$/);
    expect(Math.abs(Date.parse(expires_at) - before - HOUR_MS)).toBeLessThan(60_000);
    const stored = await PortalLink.findOne({ _id: id, account_id: account.id }).lean();
    expect(stored?.hash).toBe(hashToken(tokenOf(url)));
    expect(JSON.stringify(stored)).not.toContain(tokenOf(url));
  });

  test('when its key ends sooner, then it ends with the key', async () => {
    const expires_at = new Date(Date.now() + HOUR_MS / 4).toISOString();
    const { key } = (await gateway.post('/api/v1/keys', { name: 'x', scopes: ['webhooks:read'], expires_at })).body
      .data;

    expect((await gateway.post(path, undefined, { key })).body.data.expires_at).toBe(expires_at);
  });

  test('when the request is repeated with its Idempotency-Key, then there is one link and no token', async () => {
    const account = await gateway.workspace.account();
    const headers = { 'Idempotency-Key': newId() };

    const [first, second] = [await make(account, headers), await make(account, headers)];

    expect(second.body.data).toEqual({ ...first.body.data, url: null });
    expect(await PortalLink.countDocuments({ account_id: account.id })).toBe(1);
  });

  test('when the portal has no public address, then the error says so', async () => {
    const { portalUrl: _none, ...options } = appOptionsFor(gateway.workspace);
    const server = createServer(makeApp(options)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const reply = await callerOf(url, gateway.account.key)('POST', path);
    server.close().closeAllConnections();

    expect([reply.status, reply.body.error, reply.body.code]).toEqual([
      409,
      'Portal is not set up',
      'portal_not_set_up',
    ]);
  });
});

test('when an account has as many links as it may, even by requests at once, then one more is 409', async () => {
  const account = await gateway.workspace.account();
  const now = new Date();
  const live = { account_id: account.id, key_id: newId(), created_at: now, expires_at: new Date(+now + HOUR_MS) };
  await PortalLink.insertMany(Array.from({ length: LINKS_MAX - 1 }, () => ({ ...live, hash: newId() })));

  const replies = await Promise.all(Array.from({ length: 4 }, () => make(account)));

  expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
  expect(replies.find(({ status }) => status === 409)?.body.error).toBe(
    `An account can have at most ${LINKS_MAX} portal links at a time`,
  );
});

describe('opening', () => {
  test('when a program looks at a link, then nothing is changed and the link still opens', async () => {
    const { url } = (await make(gateway.account)).body.data;
    for (const method of ['GET', 'HEAD']) {
      const { status } = await fetch(portal.url + pathOf(url), { method });
      expect(status).toBe(200);
    }
    expect(await PortalSession.countDocuments({ account_id: gateway.account.id })).toBe(0);
    await portal.open(url);
  });

  test('when it opens, then the address has no token and no script reads the cookie', async () => {
    const { url } = (await make(gateway.account)).body.data;

    const answer = await portal.browser().post(pathOf(url));

    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/developer']);
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(
      /^billhook_developer=[\w-]{43}; Path=\/developer; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(tokenOf(url));
  });

  test('when the portal is reached by https, then its cookie belongs to this host alone', async () => {
    const secure = await startPortal(gateway.workspace, { developer: { isPublicSecure: true } });
    const { url } = (await make(gateway.account)).body.data;

    const [cookie = ''] = (await secure.browser().post(pathOf(url))).headers.getSetCookie();
    await secure.close();

    expect(cookie).toMatch(
      /^__Host-billhook_developer=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Strict$/,
    );
  });

  test('when a link is unknown, malformed, expired or used up, then all answers are the same 404', async () => {
    const [expired, used] = [(await make(gateway.account)).body.data, (await make(gateway.account)).body.data];
    const of = (id: string) => ({ _id: id, account_id: gateway.account.id });
    await PortalLink.updateOne(of(expired.id), { expires_at: new Date(Date.now() - 1_000) });
    for (let each = 0; each < BROWSERS_MAX; each += 1) await portal.open(used.url);
    const unknown = `/developer/open/${'A'.repeat(43)}`;

    const answers = [
      ...(await Promise.all(
        [unknown, '/developer/open/short', pathOf(expired.url)].map((link) => portal.browser().get(link)),
      )),
      ...(await Promise.all(
        [unknown, pathOf(expired.url), pathOf(used.url)].map((link) => portal.browser().post(link)),
      )),
    ];

    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(404));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });
});
