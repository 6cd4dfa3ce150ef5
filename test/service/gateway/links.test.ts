// Links to documents: who makes them, what they say, how many there are, and when they end.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { DOCUMENT_LINKS_MAX, DocumentLink } from '#libs/models/portal/document-link.ts';
import { driverOf } from '#libs/models/records.ts';
import { newId, storedId } from '#libs/models/tenant.ts';
import { hashToken } from '#libs/models/token.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { create } from '../../support/records.ts';
import type { TestAccount } from '../../support/workspace.ts';

const MONTHS_13_MS = 13 * 28 * 24 * 3_600_000;

let gateway: TestGateway;
let account: TestAccount;
let clientId: string;
beforeAll(async () => {
  gateway = await startGateway();
  account = await gateway.workspace.account();
  clientId = (await create(gateway, '/api/v1/clients', { name: 'Ada', email: 'ada@example.com' }, account)).id;
});
afterAll(() => gateway.close());

const tokenOf = (url: string) => url.split('/').at(-1) ?? '';
const sold = (fields: object = {}) => ({ client_id: clientId, amount: 100, status: 'Sent', ...fields });
const invoice = async (fields: object = {}) =>
  (await create(gateway, '/api/v1/invoices', sold({ due_date: '2031-01-01', ...fields }), account)).id as string;
const linksOf = (id: string, kind = 'invoices') => `/api/v1/${kind}/${id}/links`;
const stored = (filter: object) =>
  driverOf(DocumentLink).countDocuments({ account_id: storedId(account.id), ...filter } as object);

test('when a link is made, then only its hash finds it, the token is sealed, and the account reads it again', async () => {
  const at = linksOf(await invoice());

  const { status, body } = await gateway.post(at, { show_time: true, allow: ['ask'] }, account);

  expect(status).toBe(201);
  expect(body.data).toMatchObject({
    url: expect.stringMatching(/^https:\/\/portal\.example\.com\/p\/[\w-]{43}$/),
    show_time: true,
    allow: ['ask'],
    expires_at: null,
    opened_at: null,
    opens: 0,
    revoked_at: null,
  });
  const kept = await DocumentLink.findOne({ _id: body.data.id, account_id: account.id }).lean<{ hash: string }>();
  expect(kept?.hash).toBe(hashToken(tokenOf(body.data.url)));
  expect(JSON.stringify(kept)).not.toContain(tokenOf(body.data.url));
  expect((await gateway.get(at, account)).body.data).toEqual([body.data]);
});

test('when the request is repeated with its Idempotency-Key, then there is one link, and the repetition has no token', async () => {
  const id = await invoice();
  const send = () => gateway.post(linksOf(id), {}, { key: account.key, headers: { 'Idempotency-Key': `link-${id}` } });

  const [first, second] = [await send(), await send()];

  expect(second.body.data).toEqual({ ...first.body.data, url: null });
  expect(await stored({ subject_id: storedId(id) })).toBe(1);
});

describe('the address in a list of links', () => {
  const READ = ['links:read', 'clients:read', 'invoices:read', 'quotes:read'];
  const OF_PAGE = [...READ, 'time-entries:read', 'payments:read', 'credit-notes:read', 'quotes:write'];
  const urlFor = async (at: string, scopes: readonly string[]) => {
    const { key } = await create(gateway, '/api/v1/keys', { name: 'x', scopes }, account);
    return (await gateway.get(at, { key })).body.data[0].url;
  };

  test('when the key has all scopes of what the page shows and lets its reader do, then it is shown; else it is null', async () => {
    const at = linksOf(clientId, 'clients');
    const { id, url } = await create(gateway, at, { show_time: true, show_statement: true }, account);
    const [first, ...others] = OF_PAGE;
    const without = async (scope: string) => {
      // The scope to write includes the one to read.
      const rest = OF_PAGE.filter((one) => one !== scope && one !== scope.replace(':read', ':write'));
      return [scope, await urlFor(at, rest)];
    };
    expect(await urlFor(at, OF_PAGE)).toBe(url);
    expect(await Promise.all(others.map(without))).toEqual(others.map((scope) => [scope, null]));
    expect(await urlFor(at, [String(first)])).toBeNull();
    await gateway.delete(`${at}/${id}`, account);
  });

  test('when the page shows and allows less, then fewer scopes do', async () => {
    const at = linksOf((await create(gateway, '/api/v1/quotes', sold(), account)).id, 'quotes');
    const { url } = await create(gateway, at, { allow: ['ask'] }, account);
    expect(await urlFor(at, ['links:read', 'quotes:read'])).toBe(url);
  });
});

test('when a link is revoked twice, then it keeps its first time and shows no address', async () => {
  const at = linksOf(await invoice());
  const { id } = (await gateway.post(at, {}, account)).body.data;

  expect((await gateway.delete(`${at}/${id}`, account)).body).toEqual({ success: true, message: 'Link revoked' });
  const [{ revoked_at, url }] = (await gateway.get(at, account)).body.data;
  expect([Date.parse(revoked_at) > 0, url]).toEqual([true, null]);
  await gateway.delete(`${at}/${id}`, account);
  expect((await gateway.get(at, account)).body.data[0].revoked_at).toBe(revoked_at);
});

test('when the link is of another document, then its revocation is 404', async () => {
  const [at, other] = [linksOf(await invoice()), linksOf(await invoice())];
  const { id } = (await gateway.post(at, {}, account)).body.data;
  for (const path of [`${other}/${id}`, `${at}/${newId()}`]) {
    const { status, body } = await gateway.delete(path, account);
    expect([status, body.error]).toEqual([404, 'Link not found or access denied']);
  }
});

describe('who may', () => {
  test('when the key cannot accept quotes and names no acts, then the page lets no reader accept', async () => {
    const quote = (await create(gateway, '/api/v1/quotes', sold(), account)).id;
    const scopes = ['links:write', 'quotes:read'];
    const { key } = (await gateway.post('/api/v1/keys', { name: 'x', scopes }, account)).body.data;

    expect((await gateway.post(linksOf(quote, 'quotes'), {}, { key })).body.data.allow).toEqual(['ask']);
    expect((await gateway.post(linksOf(quote, 'quotes'), {}, account)).body.data.allow).toEqual(['accept', 'ask']);
  });

  test('when the key reads all of a statement, then the link of a client shows it unless it is not wanted; else it never does', async () => {
    const at = linksOf(clientId, 'clients');
    const reads = ['clients:read', 'invoices:read', 'quotes:read'];
    const shown = async (scopes: string[], body: object = {}) => {
      const { key } = (await gateway.post('/api/v1/keys', { name: 'x', scopes }, account)).body.data;
      const reply = await gateway.post(at, body, { key });
      return reply.status === 201 ? reply.body.data.show_statement : reply.body.error;
    };
    const all = ['links:write', ...reads, 'payments:read', 'credit-notes:read'];
    expect([await shown(all), await shown(all, { show_statement: true })]).toEqual([true, true]);
    expect(await shown(all, { show_statement: false })).toBe(false);
    for (const lacking of ['payments:read', 'credit-notes:read']) {
      const less = all.filter((scope) => scope !== lacking);
      expect([await shown(less), await shown(less, { show_statement: true })]).toEqual([
        false,
        `Forbidden: API key lacks the ${lacking} scope`,
      ]);
    }
    const ofInvoice = await gateway.post(linksOf(await invoice()), { show_statement: true }, account);
    expect(ofInvoice.body).toMatchObject({ data: { show_statement: false }, ignored: ['show_statement'] });
  });

  test('when the document is a draft, then it has no link', async () => {
    const { status, body } = await gateway.post(linksOf(await invoice({ status: 'Draft' })), {}, account);
    expect([status, body.code]).toEqual([409, 'link_of_draft']);
  });

  test('when everything is wrong, then all problems are named at once', async () => {
    const body = { show_time: 'x', allow: ['accept', 'pay', 'pay'], expires_at: 'soon' };
    const reply = await gateway.post(linksOf(await invoice()), body, account);
    expect(reply.status).toBe(400);
    expect(reply.body.problems.map(({ field }: { field: string }) => field).toSorted()).toEqual([
      'allow.0',
      'allow.2',
      'expires_at',
      'show_time',
    ]);
    const past = await gateway.post(linksOf(await invoice()), { expires_at: '2020-01-01T00:00:00Z' }, account);
    expect([past.status, past.body.problems[0].code]).toEqual([400, 'in_past']);
  });

  test('when a document has as many links as it may, even by requests at once, then one more is 409 until one is revoked', async () => {
    const id = await invoice();
    const { account_id } = (await Invoice.findOne({ _id: id, account_id: account.id }).lean()) as never;
    const record = { account_id, subject_type: 'invoice', subject_id: storedId(id), client_id: storedId(clientId) };
    const rest = { allow: [], show_time: false, opens: 0 };
    await DocumentLink.insertMany(
      Array.from({ length: DOCUMENT_LINKS_MAX - 1 }, () => ({ ...record, ...rest, hash: newId() })),
    );

    const replies = await Promise.all(Array.from({ length: 3 }, () => gateway.post(linksOf(id), {}, account)));

    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    const made = replies.find(({ status }) => status === 201)?.body.data.id;
    await gateway.delete(`${linksOf(id)}/${made}`, account);
    expect((await gateway.post(linksOf(id), {}, account)).status).toBe(201);
  });
});

describe('its end', () => {
  test('when the invoice is paid, then it ends 13 months later; an end of its own stays', async () => {
    const id = await invoice();
    const expires_at = '2040-01-01T00:00:00.000Z';
    await gateway.post(linksOf(id), {}, account);
    await gateway.post(linksOf(id), { expires_at }, account);
    const ends = async () =>
      (await gateway.get(linksOf(id), account)).body.data.map((link: { expires_at: string }) => link.expires_at);
    expect(await ends()).toEqual([expires_at, null]);

    await gateway.post(`/api/v1/invoices/${id}/payments`, {}, account);

    const [chosen, standard] = await ends();
    expect(chosen).toBe(expires_at);
    expect(Date.parse(standard) - Date.now()).toBeGreaterThan(MONTHS_13_MS);
  });

  test('when the client has an open document, then the link of the client has no end', async () => {
    const { id } = await create(gateway, '/api/v1/clients', { name: 'Eve', email: 'eve@example.com' }, account);
    const end = async () => (await gateway.post(linksOf(id, 'clients'), {}, account)).body.data.expires_at;
    expect(Date.parse(await end()) - Date.now()).toBeGreaterThan(MONTHS_13_MS);
    await create(gateway, '/api/v1/quotes', sold({ client_id: id }), account);
    expect(await end()).toBeNull();
  });

  test('when the document or the client is deleted or anonymised, then its links are gone', async () => {
    const { id } = await create(gateway, '/api/v1/clients', { name: 'Eve', email: 'eve@example.com' }, account);
    await gateway.post(linksOf(id, 'clients'), {}, account);
    const quote = (await create(gateway, '/api/v1/quotes', sold({ client_id: id }), account)).id;
    await gateway.post(linksOf(quote, 'quotes'), {}, account);
    await gateway.patch(`/api/v1/quotes/${quote}`, { status: 'Draft' }, account);
    expect((await gateway.delete(`/api/v1/quotes/${quote}`, account)).status).toBe(200);
    expect(await stored({ client_id: storedId(id) })).toBe(1);

    await gateway.post(`/api/v1/clients/${id}/anonymise`, undefined, account);
    expect(await stored({ client_id: storedId(id) })).toBe(0);
    const again = await gateway.post(linksOf(id, 'clients'), {}, account);
    expect([again.status, again.body.code]).toEqual([409, 'client_anonymised']);
  });
});
