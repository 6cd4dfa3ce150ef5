// The audit log has what the command line does to accounts, keys and webhooks, and never a key or a secret.
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { renderDocument } from '#libs/jobs/catalog.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { ApiKey, issueApiKey } from '#libs/models/accounts/api-key.ts';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { acrossAccounts } from '#libs/models/tenant.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { createAccount } from '../../../services/admin/accounts.ts';
import { createEndpoint, resealEndpoints } from '../../../services/admin/endpoints.ts';
import { createKey, revokeKey, rotateKey } from '../../../services/admin/keys.ts';
import { queueCommands } from '../../../services/admin/queues.ts';
import { startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { runAdmin } from '../../support/run-admin.ts';

const newSecretKey = () => randomBytes(32).toString('base64');
const atOnce = { overlapHours: 0 };

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterEach(async () => {
  await AuditEntry.deleteMany({});
  await WebhookEndpoint.deleteMany({}).setOptions(acrossAccounts);
});
afterAll(() => dashboard.close());

function target() {
  const { mongodbUri, redisUrl, redisPrefix } = dashboard.workspace;
  return { mongodbUri, redisUrl, redisPrefix, dataFolder: '/none' };
}

interface Wanted {
  url?: string;
  events?: string;
  secretKey?: string;
}

function register(account: string, { url, events, secretKey }: Wanted = {}) {
  const options = { account, url: url ?? 'http://127.0.0.1:9/hooks/token-1234', events: events ?? '*' };
  const settings = { SECRET_KEY: secretKey ?? dashboard.workspace.secretKey, OUTBOUND_ALLOW: '127.0.0.0/8' };
  return createEndpoint(options, settings, target());
}

const keyOf = (account: string, scopes = '*') => createKey({ account, name: 'site', scopes });

/** Oldest first. */
async function entries() {
  const all = await AuditEntry.find({ operator: 'command line' }).sort({ at: 1, _id: 1 }).lean();
  return all.map(({ action, target, outcome, detail }) => [action, target, outcome, detail]);
}

const wholeLog = async () => JSON.stringify(await AuditEntry.find().lean());

describe('accounts and keys', () => {
  test('when an account and keys are created, rotated and revoked, then the log has the ids and never a key', async () => {
    const account = await createAccount({ name: 'Studio North' });
    const made = await keyOf(account.id, 'clients:read,invoices:write');
    const fresh = await rotateKey(made.id, atOnce);
    await revokeKey(fresh.id);
    await revokeKey(fresh.id);

    expect(await entries()).toEqual([
      ['account.create', account.id, 'done', undefined],
      ['key.create', account.id, 'done', `${made.id}: clients:read, invoices:write`],
      ['key.rotate', made.id, 'done', `${fresh.id}; the old one ends at ${fresh.old_key_ends_at}`],
      ['key.revoke', fresh.id, 'done', undefined],
      ['key.revoke', fresh.id, 'done', 'It was revoked already'],
    ]);
    expect(await Account.exists({ _id: account.id })).not.toBeNull();
    for (const { key } of [made, fresh]) expect(await wholeLog()).not.toContain(key.slice('bh_live_'.length));
  });

  test('when the command runs as a process, then it prints the key and nothing of the audit entry', async () => {
    const { id } = await dashboard.workspace.account();

    const { stdout } = await runAdmin(['keys', 'create', '--account', id, '--json'], {
      MONGODB_URI: target().mongodbUri,
    });

    const printed = JSON.parse(stdout);
    expect(printed).toMatchObject({ key: expect.stringMatching(/^bh_live_/), account_id: id });
    expect(Object.keys(printed)).not.toEqual(expect.arrayContaining([expect.stringMatching(/entryId|detail/)]));
    expect(await entries()).toEqual([['key.create', id, 'done', `${printed.id}: *`]]);
  });

  test('when a key cannot be rotated, then the log says why', async () => {
    const { id: account } = await dashboard.workspace.account();
    const { record } = await issueApiKey({ accountId: account, name: 'x', scopes: ['*'] });
    const id = String(record._id);
    await ApiKey.updateOne({ _id: id, account_id: account }, { $set: { revoked_at: new Date() } });

    const why = `Key ${id} is revoked; create a new one`;
    await expect(rotateKey(id, atOnce)).rejects.toThrow(why);

    expect(await entries()).toEqual([['key.rotate', id, 'failed', why]]);
  });

  test.each([
    ['the id of a key to revoke', (key: string) => revokeKey(key)],
    ['the id of a key to rotate', (key: string) => rotateKey(key, atOnce)],
    ['an account', (key: string) => keyOf(key)],
    ['scopes', (key: string, account: string) => keyOf(account, key)],
    ['an expiry', (key: string, account: string) => createKey({ account, name: 'x', scopes: '*', expires: key })],
    ['an e-mail address', (key: string) => createAccount({ name: 'x', email: key })],
    ['a job id', (key: string) => queueCommands.retry(dashboard.queues, renderDocument.name, key)],
  ])('when an operator pastes a key in place of %s, then the log does not contain it', async (_what, work) => {
    const { id, key } = await dashboard.workspace.account();

    await expect(work(key, id)).rejects.toThrow();

    expect(await entries()).toEqual([]);
  });

  test('when the audit entry cannot be stored, then no key is created', async () => {
    const { id } = await dashboard.workspace.account();
    const validateWith = (validator: object) =>
      mongoose.connection.db?.command({ collMod: 'audit_entries', validator });
    await validateWith({ never: 'so' });
    try {
      await expect(keyOf(id)).rejects.toThrow('failed validation');
    } finally {
      await validateWith({});
    }

    expect(await ApiKey.countDocuments({ account_id: id })).toBe(1);
  });
});

describe('webhooks', () => {
  test('when an endpoint is registered, then the log has its id and host, but neither its secret nor the rest of its URL', async () => {
    const { id: account } = await dashboard.workspace.account();

    const { id, secret } = await register(account);

    expect(await entries()).toEqual([['webhook.create', account, 'done', `${id} at 127.0.0.1:9`]]);
    expect(await wholeLog()).not.toContain(secret.slice('whsec_'.length));
    expect(await wholeLog()).not.toContain('token-1234');
  });

  test.each([
    ['an internal address', { url: 'http://10.0.0.1/token-1234' }, /address/],
    ['an unknown event type', { events: 'token-1234' }, /token-1234 is no event type/],
  ])('when %s is rejected, then the error says why, and the log contains nothing of the input', async (...row) => {
    const [, wanted, message] = row;
    const { id } = await dashboard.workspace.account();

    await expect(register(id, wanted)).rejects.toThrow(message);

    expect(await entries()).toEqual([['webhook.create', id, 'failed', 'Validation failed']]);
  });

  test('when secrets are resealed, then the log says how many, and which endpoints could not be read', async () => {
    const { id } = await dashboard.workspace.account();
    const [old, fresh, foreign] = [newSecretKey(), newSecretKey(), newSecretKey()];
    await register(id, { secretKey: old });
    const lost = await register(id, { secretKey: foreign });
    await AuditEntry.deleteMany({});
    const reseal = (...keys: string[]) => resealEndpoints({ SECRET_KEY: keys.join(',') }, target());

    await expect(reseal(fresh, old)).rejects.toThrow('1 done');
    expect(await reseal(fresh, foreign)).toEqual({ resealed: 1, key: expect.any(String), left: 0 });

    expect(await entries()).toEqual([
      ['webhooks.reseal', undefined, 'failed', expect.stringMatching(new RegExp(`^1 done.* 1 more.*: ${lost.id}$`))],
      ['webhooks.reseal', undefined, 'done', '1 endpoint(s)'],
    ]);
    for (const key of [old, fresh, foreign]) expect(await wholeLog()).not.toContain(key);
  });

  test('when the dashboard filters the log by action and operator, then it shows the matching entries alone', async () => {
    const viewer = await dashboard.login('viewer');
    const { id: account } = await dashboard.workspace.account();
    await keyOf(account);
    const { id } = await register(account);

    const { status, text } = await viewer.get('/audit?action=webhook.create&operator=command+line');

    expect(status).toBe(200);
    expect(text).toMatch(/<option(?= [^>]*selected)[^>]* value="webhook\.create"/);
    expect(text).toContain(`${id} at 127.0.0.1:9`);
    expect(text).not.toContain('<code>key.create</code>');
  });
});

describe('the limit of usable keys', () => {
  test('when an account has as many keys as it can have, then neither command creates another until one has ended, and the log says why', async () => {
    const { id } = await dashboard.workspace.account();
    const { record: last } = await issueApiKey({ accountId: id, name: 'last', scopes: ['*'] });
    const others = Array.from({ length: 98 }, (_, index) => ({
      account_id: id,
      hash: `${id}-${index}`,
      start: 'bh_live_0000',
      name: 'one of many',
      scopes: ['clients:read'],
    }));
    await ApiKey.insertMany(others);
    const usable = () => ApiKey.countDocuments({ account_id: id, revoked_at: null, expires_at: null });
    const why = 'An account can have at most 100 usable API keys';

    await expect(keyOf(id)).rejects.toThrow(why);
    // An old key counts as long as it works.
    await expect(rotateKey(String(last._id), { overlapHours: 1 })).rejects.toThrow(why);
    expect(await usable()).toBe(100);
    expect(await entries()).toEqual([
      ['key.create', id, 'failed', why],
      ['key.rotate', String(last._id), 'failed', why],
    ]);

    const successor = await rotateKey(String(last._id), atOnce);
    await revokeKey(successor.id);
    await keyOf(id);
    expect(await usable()).toBe(100);
  });
});
