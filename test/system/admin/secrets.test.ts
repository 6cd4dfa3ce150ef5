// Secrets of the administrator's commands: read from files, and resealed after SECRET_KEY was changed.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Account, type AccountRecord } from '#libs/models/accounts/account.ts';
import { MailServer } from '#libs/models/messages/mail-server.ts';
import { SigningKey } from '#libs/models/operations/signing-key.ts';
import { DocumentLink } from '#libs/models/portal/document-link.ts';
import { driverOf } from '#libs/models/records.ts';
import { acrossAccounts, storedId } from '#libs/models/tenant.ts';
import { secretsOf } from '#libs/models/webhooks/endpoint-secrets.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { registerEndpoint } from '#libs/webhooks/register-endpoint.ts';
import type { Finding } from '../../../services/admin/check-result.ts';
import { CommandError } from '../../../services/admin/connection.ts';
import { examineSecrets } from '../../../services/admin/doctor-stores.ts';
import { resealEndpoints } from '../../../services/admin/endpoints.ts';
import { resealSecrets } from '../../../services/admin/store/sealed-secrets.ts';
import { errorLineOf } from '../../support/error-line.ts';
import { runAdmin } from '../../support/run-admin.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const HOUR_MS = 3_600_000;
const newKey = () => randomBytes(32).toString('base64');
const [old, fresh, foreign] = [newKey(), newKey(), newKey()];
const outbound = openOutbound({ allow: '127.0.0.0/8' });

let workspace: Workspace;
let folder: string;
beforeAll(async () => {
  workspace = await openWorkspace();
  folder = await mkdtemp(join(tmpdir(), 'billhook-secrets-'));
});
afterEach(() => WebhookEndpoint.deleteMany({}).setOptions(acrossAccounts));
afterAll(async () => {
  outbound.close();
  await rm(folder, { recursive: true });
  await workspace.close();
});

const stores = (keys: string) => ({
  MONGODB_URI: workspace.mongodbUri,
  REDIS_URL: workspace.redisUrl,
  REDIS_PREFIX: workspace.redisPrefix,
  SECRET_KEY: keys,
});

async function endpointSealedWith(key: string): Promise<{ id: string; secret: string }> {
  const { id: accountId } = await workspace.account();
  const input = { url: 'http://127.0.0.1:9/hooks', events: ['*'] };
  const { endpoint, secret } = await registerEndpoint(accountId, input, { outbound, box: openSecretBox(key) });
  return { id: endpoint.id, secret };
}

const stored = (id: string) =>
  WebhookEndpoint.findOne({ _id: id }).setOptions(acrossAccounts).lean<WebhookEndpointRecord>().orFail();

async function secretFinding(keys: string) {
  const [finding] = await examineSecrets(keys);
  return finding;
}

/** Reseals as the command does, whose stores are those of this process. */
function reseal(keys: string) {
  const { mongodbUri, redisUrl, redisPrefix } = workspace;
  return resealEndpoints({ SECRET_KEY: keys }, { mongodbUri, redisUrl, redisPrefix, dataFolder: folder });
}

describe('from files', () => {
  test('when addresses and key come from files, then a command works as with values', async () => {
    const env: Record<string, string> = { OUTBOUND_ALLOW: '127.0.0.0/8' };
    for (const [name, value] of Object.entries(stores(fresh))) {
      if (name === 'REDIS_PREFIX') continue;
      await writeFile(join(folder, name), `${value}\n`);
      env[`${name}_FILE`] = join(folder, name);
    }
    const { id: accountId } = await workspace.account();
    const create = ['webhooks', 'create', '--account', accountId, '--url', 'http://127.0.0.1:9/hooks', '--json'];

    const made = await runAdmin(create, env);
    const queues = await runAdmin(['queues', 'list'], env);

    expect([made.code, made.stderr, queues.code]).toEqual([0, '', 0]);
    const { id, secret } = JSON.parse(made.stdout) as { id: string; secret: string };
    expect(secretsOf(await stored(id), openSecretBox(fresh))).toEqual([secret]);
  });

  test('when variables are invalid, then all are named, the exit code is 78, and --help still works', async () => {
    const env = { ...stores('short'), MONGODB_URI_FILE: '/no/such/file', OUTBOUND_ALOW: '10.0.0.0/8' };

    const rejected = await runAdmin(['accounts', 'list'], env);

    expect([rejected.code, rejected.stdout]).toEqual([78, '']);
    for (const word of ['MONGODB_URI and MONGODB_URI_FILE', 'SECRET_KEY must be', 'did you mean OUTBOUND_ALLOW?']) {
      expect(rejected.stderr).toContain(word);
    }
    expect((await runAdmin(['--help'], env)).code).toBe(0);
  });
});

describe('resealed', () => {
  const idOf = (key: string) => openSecretBox(key).keyIds[0];

  test('when the new key comes last in the list, then doctor names the old one as the one in use', async () => {
    await endpointSealedWith(old);

    const found = `1, all sealed with the first key (${idOf(old)}); none with ${idOf(fresh)}`;
    expect(await secretFinding(`${old},${fresh}`)).toMatchObject({ status: 'ok', found });
    await WebhookEndpoint.deleteMany({}).setOptions(acrossAccounts);
  });

  test('when the key was changed, then doctor reports it until all secrets are sealed with the new key', async () => {
    const before = await Promise.all([endpointSealedWith(old), endpointSealedWith(old), endpointSealedWith(fresh)]);
    const both = `${fresh},${old}`;
    const { stdout } = await runAdmin(['doctor', '--json'], stores(both));
    const findings = JSON.parse(stdout) as Finding[];
    expect(findings.find(({ check }) => check === 'Webhook secrets')).toMatchObject({
      status: 'warning',
      found: `2 of 3 are sealed with another key than the first (${idOf(old)})`,
      advice: expect.stringContaining('admin webhooks reseal'),
    });

    const first = await runAdmin(['webhooks', 'reseal', '--json'], stores(both));
    const again = await reseal(both);

    expect(JSON.parse(first.stdout)).toMatchObject({ resealed: 2, left: 0 });
    expect(again).toMatchObject({ resealed: 0, left: 0 });
    const sealed = `3, all sealed with the first key (${idOf(fresh)})`;
    expect(await secretFinding(both)).toMatchObject({ status: 'ok', found: `${sealed}; none with ${idOf(old)}` });
    expect(await secretFinding(fresh)).toMatchObject({ status: 'ok', found: sealed });
    for (const { id, secret } of before) {
      expect(secretsOf(await stored(id), openSecretBox(fresh))).toEqual([secret]);
    }
  });

  test('when other records hold sealed values, then all are resealed, and one that no key opens stays as it is', async () => {
    const { id } = await workspace.account();
    const box = openSecretBox(old);
    const lost = openSecretBox(foreign).seal('lost');
    const own = { account_id: storedId(id) };
    const stripe = { key: box.seal('sk_test_1'), signing_secret: lost };
    await driverOf(Account).updateOne({ _id: storedId(id) }, { $set: { stripe } });
    for (const [{ collection }, path] of [
      [MailServer, 'secret'],
      [SigningKey, 'sealed'],
      [DocumentLink, 'sealed'],
    ] as const)
      await collection.insertOne({ ...own, [path]: box.seal(path) });

    await reseal(`${fresh},${old}`);

    const read = openSecretBox(fresh);
    const account = await Account.findById(id).lean<AccountRecord>().orFail();
    expect([read.open(account.stripe?.key ?? ''), account.stripe?.signing_secret]).toEqual(['sk_test_1', lost]);
    const [server, key, link] = await Promise.all(
      [MailServer, SigningKey, DocumentLink].map(({ collection }) => collection.findOne({})),
    );
    expect([server?.['secret'], key?.['sealed'], link?.['sealed']].map(read.open)).toEqual([
      'secret',
      'sealed',
      'sealed',
    ]);
    await driverOf(Account).updateOne({ _id: storedId(id) }, { $unset: { stripe: 1 } });
    for (const { collection } of [MailServer, SigningKey, DocumentLink]) await collection.deleteMany({});
  });

  test('when a previous secret is still valid, then it is resealed as well; when it has expired, then it is dropped', async () => {
    const box = openSecretBox(old);
    const lately = await endpointSealedWith(old);
    const longAgo = await endpointSealedWith(old);
    const previous = (until: number) => ({
      previous_secrets: [{ secret: box.seal('whsec_former'), until: new Date(Date.now() + until) }],
    });
    await WebhookEndpoint.updateOne({ _id: lately.id }, previous(HOUR_MS)).setOptions(acrossAccounts);
    await WebhookEndpoint.updateOne({ _id: longAgo.id }, previous(-HOUR_MS)).setOptions(acrossAccounts);

    await reseal(`${fresh},${old}`);

    expect(secretsOf(await stored(lately.id), openSecretBox(fresh))).toEqual([lately.secret, 'whsec_former']);
    expect((await stored(longAgo.id)).previous_secrets).toEqual([]);
  });

  test('when an account rotates a secret meanwhile, then the rotated one stays', async () => {
    const { id, secret } = await endpointSealedWith(old);
    const during = openSecretBox(`${fresh},${old}`);
    const rotated = during.seal('whsec_rotated');
    let isRotated = false;
    // Rotates between the read and the update of the record: a secret is sealed after it was read.
    const box = {
      ...during,
      open(sealed: string) {
        return during.open(sealed);
      },
      seal(plain: string) {
        if (!isRotated) pending.push(rotate());
        isRotated = true;
        return during.seal(plain);
      },
    };
    const pending: Promise<unknown>[] = [];
    const rotate = () =>
      WebhookEndpoint.updateOne(
        { _id: id },
        {
          secret: rotated,
          previous_secrets: [{ secret: openSecretBox(old).seal(secret), until: new Date(Date.now() + HOUR_MS) }],
        },
      ).setOptions(acrossAccounts);

    await resealSecrets(box, () => undefined);
    await Promise.all(pending);
    await resealSecrets(during, () => undefined);

    expect(secretsOf(await stored(id), openSecretBox(fresh))[0]).toBe('whsec_rotated');
  });

  test('when a key is missing, then the other secrets are resealed, the error says how many are left, and doctor reports a problem', async () => {
    await endpointSealedWith(old);
    const lost = await endpointSealedWith(foreign);
    const both = `${fresh},${old}`;

    expect(await errorLineOf(reseal(both), CommandError)).toMatch(
      new RegExp(`^1 done\\. SECRET_KEY lacks the key of 1 more.*${lost.id}$`),
    );
    expect(await secretFinding(both)).toMatchObject({
      status: 'problem',
      found: expect.stringMatching(/^1 of 2 can be read with no key/),
    });
  });
});
