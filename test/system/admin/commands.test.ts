// The operator's command line: each command as a real process, and what a command refuses by its function.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { renderDocument } from '#libs/jobs/catalog.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { ApiKey } from '#libs/models/accounts/api-key.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { createAccount, updateAccount } from '../../../services/admin/accounts.ts';
import { CommandError } from '../../../services/admin/connection.ts';
import { createEndpoint } from '../../../services/admin/endpoints.ts';
import { createKey, rotateKey } from '../../../services/admin/keys.ts';
import { createOperator } from '../../../services/admin/operators.ts';
import { readSettings } from '../../../services/admin/settings.ts';
import { withQueues } from '../../../services/admin/with-queues.ts';
import { errorLineOf } from '../../support/error-line.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { openReadyQueues } from '../../support/queues.ts';
import { runAdmin } from '../../support/run-admin.ts';

let gateway: TestGateway;
let folder: string;
beforeAll(async () => {
  gateway = await startGateway();
  folder = await mkdtemp(join(tmpdir(), 'billhook-admin-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await gateway.close();
});

function admin(args: string[], env: Record<string, string> = { MONGODB_URI: gateway.workspace.mongodbUri }) {
  return runAdmin(args, env);
}

async function adminJson(...args: string[]) {
  const { code, stdout, stderr } = await admin([...args, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const refusalOf = (work: Promise<unknown>) => errorLineOf(work, CommandError);

const newKey = (account: string, given: object = {}) => createKey({ account, name: 'default', scopes: '*', ...given });
/** The system that the environment names: no folder is looked into. */
const target = (given: object = {}) => ({
  mongodbUri: gateway.workspace.mongodbUri,
  redisUrl: undefined,
  redisPrefix: gateway.workspace.redisPrefix,
  dataFolder: folder,
  ...given,
});

describe('keys', () => {
  test('when an account and a key are created, then the API accepts the key until it is revoked', async () => {
    const account = await adminJson('accounts', 'create', '--name', 'Studio North');
    const scopes = ['--scopes', 'clients:read,invoices:write'];
    const made = await adminJson('keys', 'create', '--account', account.id, '--name', 'site', ...scopes);
    expect(account).toMatchObject({ name: 'Studio North', mode: 'live', time_zone: 'UTC' });
    expect(made).toMatchObject({ name: 'site', scopes: ['clients:read', 'invoices:write'] });
    expect(made.key).toMatch(/^bh_live_[0-9A-Za-z]{36}$/);
    expect((await gateway.get('/api/v1/clients', { key: made.key })).status).toBe(200);

    expect(await adminJson('keys', 'revoke', made.id)).toMatchObject({ id: made.id, status: 'revoked' });

    expect((await gateway.get('/api/v1/clients', { key: made.key })).status).toBe(401);
    const listed = await admin(['keys', 'list', '--account', account.id]);
    expect(listed.stdout).toContain('revoked');
    expect(listed.stdout).not.toContain(made.key);
  });

  test('when an account is updated, then only the given fields change, and the API shows them', async () => {
    const made = await createAccount({ name: 'Hours', locale: 'de-DE', maxEntryHours: 12 });
    const { key } = await newKey(made.id);
    const changed = await adminJson('accounts', 'update', made.id, '--max-entry-hours', '30.5');

    expect([made.max_entry_hours, changed.max_entry_hours]).toEqual([12, 30.5]);
    expect(changed).toMatchObject({ id: made.id, name: 'Hours', locale: 'de-DE', mode: 'live' });
    expect((await gateway.get('/api/v1/account', { key })).body.data.max_entry_hours).toBe(30.5);
    for (const maxEntryHours of [0, Number('many')])
      expect(await refusalOf(updateAccount(made.id, { maxEntryHours }))).toMatch(/^--max-entry-hours must be/);
    expect(await refusalOf(updateAccount(made.id, {}))).toMatch(/^Nothing to change/);
  });

  test('when a key is rotated, then the new one has its scopes and the old one is rejected', async () => {
    const { id } = await createAccount({ name: 'Rotating' });
    const old = await newKey(id, { scopes: 'clients:read' });

    // The command's own default ends the old key at once.
    const fresh = await adminJson('keys', 'rotate', old.id);

    expect(fresh).toMatchObject({ scopes: ['clients:read'], replaces: old.id });
    expect((await gateway.get('/api/v1/clients', { key: fresh.key })).status).toBe(200);
    expect((await gateway.get('/api/v1/clients', { key: old.key })).status).toBe(401);
  });

  test('when a test key is rotated, then the new one is a test key, and the old one still ends at its own expiry', async () => {
    const hours = ['--locale', 'de-DE', '--max-entry-hours', '12'];
    const { id, ...made } = await adminJson('accounts', 'create', '--name', 'Trying', '--test', ...hours);
    const old = await adminJson('keys', 'create', '--account', id, '--expires', '1d');
    expect(made).toMatchObject({ mode: 'test', locale: 'de-DE', max_entry_hours: 12 });
    expect(old.key).toMatch(/^bh_test_/);

    const fresh = await adminJson('keys', 'rotate', old.id, '--overlap-hours', '48');

    expect(fresh).toMatchObject({ key: expect.stringMatching(/^bh_test_/), old_key_ends_at: old.expires_at });
  });

  test('when a key is rotated again within the overlap, then the error says that it was replaced', async () => {
    const { id } = await createAccount({ name: 'Twice' });
    const old = await newKey(id);
    await rotateKey(old.id, { overlapHours: 1 });

    expect(await refusalOf(rotateKey(old.id, { overlapHours: 1 }))).toContain('was replaced already');
  });

  test('when a key has expired, then it is not rotated', async () => {
    const { id } = await createAccount({ name: 'Late' });
    const old = await newKey(id);
    await ApiKey.updateOne({ _id: old.id, account_id: id }, { $set: { expires_at: new Date(Date.now() - 60_000) } });

    expect(await refusalOf(rotateKey(old.id, { overlapHours: 0 }))).toContain('has expired');
  });
});

describe('webhooks', () => {
  const settings = () => ({
    MONGODB_URI: gateway.workspace.mongodbUri,
    SECRET_KEY: gateway.workspace.secretKey,
    OUTBOUND_ALLOW: '127.0.0.0/8',
  });

  test('when an endpoint is registered, then its secret is shown once and the API returns the endpoint', async () => {
    const args = ['webhooks', 'create', '--account', gateway.account.id, '--url', 'http://127.0.0.1:9/hook', '--json'];
    const made = JSON.parse((await admin([...args, '--events', 'client.created,invoice.*'], settings())).stdout);

    expect(made.secret).toMatch(/^whsec_/);
    const { data } = (await gateway.get(`/api/v1/webhooks/${made.id}`)).body;
    expect(data).toMatchObject({ url: 'http://127.0.0.1:9/hook', events: ['client.created', 'invoice.*'] });
    const listed = await admin(['webhooks', 'list', '--account', gateway.account.id], settings());
    expect(listed.stdout).toContain(made.id);
    expect(listed.stdout).not.toContain(made.secret);
    expect(await admin(['webhooks', 'deliveries', made.id, '--json'], settings())).toMatchObject({ stdout: '[]\n' });
  });

  test('when the address is private, then stderr has one line and the exit code is 1', async () => {
    const args = ['webhooks', 'create', '--account', gateway.account.id, '--url', 'http://127.0.0.1:9/hook'];
    const { code, stderr } = await admin(args, { ...settings(), OUTBOUND_ALLOW: '' });

    expect(code).toBe(1);
    expect(stderr).toMatch(/url/);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('when there is no secret key, then the error says so', async () => {
    const options = { account: gateway.account.id, url: 'http://127.0.0.1:9/hook', events: '*' };
    const withoutKey = readSettings({ ...settings(), SECRET_KEY: '' });

    expect(await refusalOf(createEndpoint(options, withoutKey, target()))).toMatch(/SECRET_KEY is not set/);
  });
});

describe('mistakes', () => {
  test.each([
    [
      'an unknown account',
      ['keys', 'create', '--account', '00000000-0000-7000-8000-000000000000'],
      /No account has the id/,
    ],
    ['an unknown command', ['keys', 'frobnicate'], /unknown command/],
    ['a missing option', ['accounts', 'create'], /--name/],
    [
      'the locale of a POSIX shell',
      ['accounts', 'create', '--name', 'x', '--locale', 'de_DE'],
      /^de_DE is not a language tag/,
    ],
  ])(
    'when the operator gives %s, then stderr names the mistake without a stack trace and the exit code is 1',
    async (_what, args, message) => {
      const { code, stdout, stderr } = await admin(args);

      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/\n\s+at /);
    },
  );

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['a time zone that does not exist', () => createAccount({ name: 'x', timeZone: 'Mars/One' }), /IANA/],
    ['an offset as time zone', () => createAccount({ name: 'x', timeZone: '+02:00' }), /IANA/],
    ['an e-mail address without a host', () => createAccount({ name: 'x', email: 'ada@' }), /^ada@ is not an e-mail/],
    ['an empty name for a key', () => newKey(gateway.account.id, { name: '' }), /--name must have 1 to 200/],
    ['a name of spaces', () => createAccount({ name: '   ' }), /--name must have 1 to 200/],
    [
      'a name with terminal control characters',
      () => newKey(gateway.account.id, { name: 'x\u001b[31m' }),
      /--name must not hold control/,
    ],
    ['a name of two lines', () => createAccount({ name: 'Studio\nNorth' }), /^--name must be one line$/],
    [
      'a wrong value for each field of an account',
      () => createAccount({ name: ' ', email: 'ada@', timeZone: 'Mars/One', locale: 'de_DE', maxEntryHours: 0 }),
      /^--name must have .*; ada@ is not an .*; Mars\/One is not an .*; de_DE is not a .*; --max-entry-hours must be/,
    ],
    [
      'a wrong value for each field of a key',
      () => newKey(gateway.account.id, { name: ' ', scopes: 'clients', expires: 'yesterday' }),
      /^--name must have .*; Unknown scope clients\. .*; --expires must be a day/,
    ],
    [
      'a wrong value for each field of an operator',
      () => createOperator({ name: 'ada north', role: 'king', password: 'short' }),
      /^--name must have .*; --role must be .*; The password must have/,
    ],
    [
      'an expiry with text after the day',
      () => newKey(gateway.account.id, { expires: '2099-01-31junk' }),
      /--expires must be a day/,
    ],
    [
      'an expiry without a zone',
      () => newKey(gateway.account.id, { expires: '2099-01-31T12:00' }),
      /--expires must be a day/,
    ],
    [
      'queues of one system and a database of another',
      () => withQueues(target(), async () => undefined),
      /REDIS_URL is not/,
    ],
  ])('when the operator gives %s, then the error names the mistake in one line', async (_what, work, message) => {
    expect(await refusalOf(work())).toMatch(message);
  });

  test('when Redis is lost while a command runs, then stderr says so in one line', async () => {
    const { mongodbUri, redisUrl } = gateway.workspace;
    const losing = await losingServer(redisUrl);
    const env = { MONGODB_URI: mongodbUri, REDIS_URL: `redis://127.0.0.1:${losing.port}` };
    const { code, stderr } = await admin(['queues', 'list'], env);
    await losing.close();

    expect(code).toBe(1);
    expect(stderr).toMatch(/^Redis stopped answering: .*look before you repeat it\.\n$/);
  });

  test('when no local system runs and MONGODB_URI is not set, then the error says what to do', async () => {
    const { code, stderr } = await admin(['accounts', 'list', '--data', folder], {});

    expect(code).toBe(1);
    expect(stderr).toMatch(/npm start.*MONGODB_URI/);
  });

  test('when a local system runs, then its database is found without MONGODB_URI', async () => {
    await writeFile(join(folder, 'local.json'), JSON.stringify({ mongodbUri: gateway.workspace.mongodbUri }));

    expect((await admin(['accounts', 'list', '--data', folder], {})).code).toBe(0);
  });
});

describe('a local system', () => {
  const noVariables = {};
  beforeEach(async () => {
    const { mongodbUri, redisUrl, redisPrefix, secretKey } = gateway.workspace;
    const secretKeyId = openSecretBox(secretKey).keyIds[0];
    const facts = { mongodbUri, redisUrl, redisPrefix, secretKeyId, outboundAllow: '127.0.0.0/8' };
    await writeFile(join(folder, 'local.json'), JSON.stringify(facts));
  });

  test('when a queue is paused, then it is the one with the Redis prefix of the system', async () => {
    const queues = await openReadyQueues(gateway.workspace);
    const { stdout } = await admin(['queues', 'pause', renderDocument.name, '--data', folder], noVariables);
    const isPaused = await queues.raw(renderDocument).isPaused();
    await queues.close();

    expect(stdout).toContain('PAUSED');
    expect(isPaused).toBe(true);
  });

  test('when it keeps its own key, then the secret of an endpoint is sealed with it', async () => {
    await writeFile(join(folder, 'secret-key.json'), JSON.stringify({ secretKey: gateway.workspace.secretKey }));

    const args = ['webhooks', 'create', '--account', gateway.account.id, '--url', 'http://127.0.0.1:9/hook'];
    const registered = await admin([...args, '--data', folder], noVariables);

    expect(registered).toMatchObject({ code: 0, stdout: expect.stringContaining('whsec_') });
  });

  test('when it runs with another key than the one it keeps, then nothing is sealed with the kept one', async () => {
    const kept = randomBytes(32).toString('base64');
    await writeFile(join(folder, 'secret-key.json'), JSON.stringify({ secretKey: kept }));

    const options = { account: gateway.account.id, url: 'http://127.0.0.1:9/hook', events: '*' };
    const registering = createEndpoint(options, readSettings({}), target({ mongodbUri: undefined }));

    expect(await refusalOf(registering)).toMatch(/^SECRET_KEY is not set: it must be the one/);
  });
});

describe('tables', () => {
  test('when a name has line breaks and terminal control characters, then it is printed on one line without them', async () => {
    const account = await createAccount({ name: 'x' });
    await Account.updateOne({ _id: account.id }, { $set: { name: 'one\ntwo\u001b[31m' } });

    const { stdout } = await admin(['accounts', 'list']);

    expect(stdout).toContain('one\\u000atwo\\u001b[31m');
  });
});

/** A Redis that closes the connection at the first look at a queue. */
async function losingServer(redisUrl: string) {
  const { hostname, port } = new URL(redisUrl);
  const server = createServer((client) => {
    const redis = connect(Number(port), hostname);
    client.on('data', (bytes) => (/hexists/i.test(bytes.toString()) ? client.destroy() : redis.write(bytes)));
    redis.pipe(client);
    for (const end of [client, redis]) end.on('error', () => undefined);
    client.on('close', () => redis.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => void (await promisify(server.close.bind(server))()),
  };
}
