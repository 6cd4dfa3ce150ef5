// Logins are slow, limited and audited; sessions end; forms of other sites and actions of viewers are rejected.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fanOutEvent } from '#libs/jobs/catalog.ts';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import {
  insertOperator,
  isBrowserOf,
  Operator,
  type OperatorRecord,
  removeOperator,
} from '#libs/models/operations/operator.ts';
import {
  BROWSER_LIFE_MS,
  OperatorBrowser,
  operatorOfBrowser,
  rememberBrowser,
} from '#libs/models/operations/operator-browser.ts';
import { OperatorSession } from '#libs/models/operations/operator-session.ts';
import { makeToken } from '#libs/models/token.ts';
import { hashPassword, verifyPassword } from '#libs/password.ts';
import { addOperator, PASSWORD, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard.close());

const auditEntries = (filter: object) => AuditEntry.find(filter).sort({ _id: 1 }).lean();
const isPaused = () => dashboard.queues.raw(fanOutEvent).isPaused();

describe('passwords', () => {
  test('when a password is stored, then only its slow hash is, and two hashes of it differ', async () => {
    const [first, second] = await Promise.all([hashPassword(PASSWORD), hashPassword(PASSWORD)]);

    expect(first).toMatch(/^scrypt\$65536\$8\$2\$/);
    expect(first).not.toBe(second);
    expect(await verifyPassword(PASSWORD, first)).toBe(true);
    expect(await verifyPassword(`${PASSWORD} `, first)).toBe(false);
    expect(await verifyPassword('', undefined)).toBe(false);
  });
});

describe('login', () => {
  test('when name and password are right, then a session opens, in a cookie that no script and no other site can use', async () => {
    await insertOperator({ name: 'Grace', role: 'operator', password: PASSWORD });
    const browser = dashboard.browser();

    const { status, headers } = await browser.post('/login', { name: 'GRACE', password: PASSWORD, next: '/audit' });

    expect([status, headers.get('location')]).toEqual([303, '/audit']);
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(/^billhook_operations=[\w-]{43}; Max-Age=43200; Path=\/;.*HttpOnly; SameSite=Strict$/),
      expect.stringMatching(/^billhook_browser=[\w-]{43}; Max-Age=7776000; Path=\/login;.*HttpOnly; SameSite=Strict$/),
    ]);
    expect((await browser.get('/')).status).toBe(200);
    const token = browser.cookie.split('=')[1] ?? '';
    expect(await OperatorSession.countDocuments({ _id: token })).toBe(0);
    expect(await auditEntries({ operator: 'grace' })).toMatchObject([
      { action: 'login', outcome: 'done', address: '127.0.0.1' },
    ]);
    expect((await browser.get('/audit?operator=GRACE')).text).toContain('<div>grace</div>');
  });

  test.each([
    ['the password is wrong', { name: 'linus', password: 'not the password' }],
    ['no operator has the name', { name: 'unknown', password: PASSWORD }],
    ['the password is empty', { name: 'linus', password: '' }],
  ])('when %s, then the response is the same and the attempt is audited', async (_what, { name, password }) => {
    if (!(await Operator.exists({ name: 'linus' }))) {
      await addOperator({ name: 'linus', role: 'operator' });
    }
    const before = await AuditEntry.countDocuments({ operator: name });
    const browser = dashboard.browser();

    const { status, text } = await browser.post('/login', { name, password });

    expect(status).toBe(401);
    expect(text).toContain('Wrong name or password');
    expect(text).not.toContain(PASSWORD);
    expect(browser.cookie).toBe('');
    const entries = await auditEntries({ operator: name });
    expect(entries).toHaveLength(before + 1);
    expect(entries.at(-1)).toMatchObject({ action: 'login', outcome: 'refused', address: '127.0.0.1' });
  });

  test('when a name fails again and again, then even the right password has to wait, except in a browser that logged in before', async () => {
    await addOperator({ name: 'margaret', role: 'operator' });
    const [known, stranger] = [dashboard.browser(), dashboard.browser()];
    const right = { name: 'margaret', password: PASSWORD };
    await known.post('/login', right);
    await known.post('/logout');
    for (let tries = 0; tries < 10; tries += 1) {
      expect((await stranger.post('/login', { name: 'margaret', password: 'guess' })).status).toBe(401);
    }

    const rejected = await stranger.post('/login', right);
    await stranger.post('/login', { name: 'Margaret ', password: PASSWORD });
    const admitted = await known.post('/login', right);
    const other = await known.post('/login', { name: 'grace', password: 'guess' });

    expect(rejected.status).toBe(429);
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(60);
    expect(rejected.text).toMatch(/Too many failed attempts, retry in 1[0-5] minutes/);
    expect([admitted.status, other.status]).toEqual([303, 401]);
    const entries = await auditEntries({ operator: 'margaret', detail: 'too many failed attempts' });
    expect(entries).toHaveLength(1);
  });

  test('when an operator logs in, then their browser is remembered by a hash, for them alone, until they are removed', async () => {
    const browser = await dashboard.login('operator', 'hedy');
    await browser.post('/login', { name: 'hedy', password: PASSWORD });
    const { _id } = (await Operator.findOne({ name: 'hedy' }).lean<OperatorRecord>()) as OperatorRecord;

    const remembered = await OperatorBrowser.find({ operator_id: _id }).lean();
    expect(remembered).toMatchObject([{ _id: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    const token = makeToken();
    await rememberBrowser(_id, token);
    expect([await isBrowserOf('hedy', token), await isBrowserOf('grace', token)]).toEqual([true, false]);
    expect(await operatorOfBrowser(token, new Date(Date.now() + BROWSER_LIFE_MS + 60_000))).toBeUndefined();

    await removeOperator('hedy');
    expect(await OperatorBrowser.countDocuments({ operator_id: _id })).toBe(0);
    expect(await isBrowserOf('hedy', token)).toBe(false);
  });

  test('when a caller forges an address in a header, then the real one is audited', async () => {
    const headers = { 'X-Forwarded-For': '198.51.100.9' };

    await dashboard.browser().post('/login', { name: 'forger', password: 'guess' }, headers);

    expect(await auditEntries({ operator: 'forger' })).toMatchObject([{ address: '127.0.0.1' }]);
  });

  test('when a link to the login names another site as its target, then the login does not redirect there', async () => {
    await addOperator({ name: 'edsger', role: 'viewer' });

    for (const next of ['//evil.example', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
      const { headers } = await dashboard.browser().post('/login', { name: 'edsger', password: PASSWORD, next });
      expect(headers.get('location')).toBe('/');
    }
  });

  test('when a name contains markup, then it is shown as text', async () => {
    const { text } = await dashboard.browser().post('/login', { name: '"><script>alert(1)</script>', password: 'x' });

    expect(text).not.toContain('<script>alert');
    expect(text).toContain('&quot;>&lt;script>');
  });
});

describe('sessions', () => {
  test('when a page is requested without a session, then it redirects to the login, and a refresh gets 401', async () => {
    const browser = dashboard.browser();

    const page = await browser.get('/deliveries?status=dead');
    const refresh = await browser.get('/', { 'X-Refresh': '1' });

    expect([page.status, page.headers.get('location')]).toEqual([303, '/login?next=%2Fdeliveries%3Fstatus%3Ddead']);
    expect(refresh.status).toBe(401);
    expect((await browser.post('/queues/fan-out-event/pause')).status).toBe(401);
  });

  test('when a session ended before its form was sent, then the answer leads over the login back to the page', async () => {
    const browser = dashboard.browser();
    const path = '/endpoints?state=all&page=2';

    const own = await browser.post('/queues/fan-out-event/pause', {}, { Referer: dashboard.url + path });
    const foreign = await browser.post('/queues/fan-out-event/pause', {}, { Referer: `https://evil.example${path}` });

    expect([own.status, foreign.status]).toEqual([401, 401]);
    expect(own.text).toContain(`href="/login?next=${encodeURIComponent(path)}"`);
    expect(foreign.text).toContain('<a href="/">');
  });

  test.each(['/deliveries?event=invoice.*', '/mail?cause=it+(is)+away,+retry!&id=~a;b@c', '/accounts?q=[x]|$1'])(
    'when the login leads back to %s, then the search is still there',
    async (path) => {
      const page = await dashboard.browser().get(path);
      const location = String(page.headers.get('location'));

      expect(new URL(location, dashboard.url).searchParams.get('next')).toBe(path);
      const form = await dashboard.browser().get(location);
      expect(form.text).toContain(`value="${path.replaceAll('&', '&amp;')}"`);
    },
  );

  test('when an operator logs out, then the old cookie is not accepted any more', async () => {
    const browser = await dashboard.login('operator');
    const { cookie } = browser;
    expect((await browser.post('/logout')).status).toBe(303);
    expect(browser.cookie).not.toBe(cookie);

    expect((await dashboard.browser().get('/', { Cookie: cookie })).status).toBe(303);
    expect(await auditEntries({ operator: browser.name, action: 'logout' })).toHaveLength(1);
  });

  test('when a session has expired, then it is not accepted any more', async () => {
    const browser = await dashboard.login('operator');
    await OperatorSession.updateMany({}, { $set: { expires_at: new Date(Date.now() - 1) } });

    expect((await browser.get('/')).status).toBe(303);
  });

  test('when an operator is removed or made a viewer, then this takes effect at the next request', async () => {
    const [removed, changed] = [await dashboard.login('operator'), await dashboard.login('operator')];
    await Operator.updateOne({ name: changed.name }, { $set: { role: 'viewer' } });
    await removeOperator(removed.name);

    expect((await removed.get('/')).status).toBe(303);
    expect((await changed.post('/queues/fan-out-event/pause')).status).toBe(403);
    expect(await isPaused()).toBe(false);
  });
});

describe('viewers', () => {
  const actions = [
    '/queues/fan-out-event/pause',
    '/queues/fan-out-event/resume',
    '/queues/fan-out-event/retry',
    '/queues/fan-out-event/remove',
    '/queues/fan-out-event/jobs/1/retry',
    '/queues/fan-out-event/jobs/1/remove',
    '/deliveries/replay',
    '/deliveries/0198c0de-0000-7000-8000-000000000001/replay',
    '/bulk/0198c0de-0000-7000-8000-000000000001/stop',
    '/bulk/0198c0de-0000-7000-8000-000000000001/continue',
  ];

  test.each(actions)('when a viewer sends %s, then nothing is done and the attempt is audited', async (path) => {
    const viewer = await dashboard.login('viewer');

    const { status, text } = await viewer.post(path, { selection: 'status=dead' });

    expect(status).toBe(403);
    expect(text).toContain('Viewers can read everything');
    expect(await isPaused()).toBe(false);
    expect(await auditEntries({ operator: viewer.name, action: 'act' })).toMatchObject([
      { outcome: 'refused', target: `POST ${path}` },
    ]);
  });

  test('when a viewer opens the pages, then each is shown, and its only form is the logout', async () => {
    const viewer = await dashboard.login('viewer');

    for (const path of ['/', '/failures', '/deliveries', '/renders', '/queues/fan-out-event', '/bulk', '/audit']) {
      const { status, text } = await viewer.get(path);
      expect([path, status]).toEqual([path, 200]);
      expect([...text.matchAll(/<form method="post" action="([^"]+)"/g)].map(([, to]) => to)).toEqual(['/logout']);
    }
  });
});

describe('other sites', () => {
  test.each([
    ['without the token', { csrf: '' }, {}],
    ['with a token of another session', { csrf: 'A'.repeat(43) }, {}],
    ['from another origin', {}, { Origin: 'https://evil.example' }],
    ['from an opaque origin', {}, { Origin: 'null' }],
    ['that the browser calls cross-site', {}, { 'Sec-Fetch-Site': 'cross-site' }],
    ['that the browser calls same-site', {}, { 'Sec-Fetch-Site': 'same-site' }],
  ])('when a form is sent %s, then nothing is done', async (_what, fields, headers) => {
    const operator = await dashboard.login('operator');

    const { status } = await operator.post('/queues/fan-out-event/pause', fields, headers);

    expect(status).toBe(403);
    expect(await isPaused()).toBe(false);
  });

  test('when another site sends the login form, then it is rejected before the password is checked', async () => {
    const { status } = await dashboard
      .browser()
      .post('/login', { name: 'grace', password: PASSWORD }, { Origin: 'https://evil.example' });

    expect(status).toBe(403);
  });

  test('when any page is sent, then it cannot be framed, scripted by other sites or cached', async () => {
    const operator = await dashboard.login('operator');

    for (const path of ['/login', '/', '/audit', '/nowhere']) {
      const { headers } = await operator.get(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });
});
