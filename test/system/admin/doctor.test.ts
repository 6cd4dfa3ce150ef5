// The checks of `admin doctor` on a database: one that cannot be made hides no other.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { ensureIndexes } from '#libs/models/indexes.ts';
import { Operator } from '#libs/models/operations/operator.ts';
import { acrossAccounts, newId } from '#libs/models/tenant.ts';
import { WebhookEndpoint } from '#libs/models/webhooks/webhook-endpoint.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import type { Finding } from '../../../services/admin/check-result.ts';
import { examineMail } from '../../../services/admin/doctor-mail.ts';
import { examineMongodb, examineSecrets } from '../../../services/admin/doctor-stores.ts';
import { addDelivery, addEndpoint } from '../../support/dashboard/records.ts';
import { insertMessage } from '../../support/messages.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
import { runAdmin } from '../../support/run-admin.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

/** Not an election, which would be retried. */
const FAILED = 96;

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

test('when one check fails, then it is a problem of its own, and the others are made', async () => {
  const namespace = `${mongoose.connection.name}.events`;
  const failing = { times: 5, failCommands: ['find', 'aggregate', 'count'], namespace, errorCode: FAILED };
  const results = await withErrors(failing, () => examineMongodb());

  const statusOf = (name: string) => results.find(({ check }) => check === name)?.status;
  expect(statusOf('Outbox')).toBe('problem');
  expect(['MongoDB version', 'Indexes', 'Payments ledger', 'Operators'].map(statusOf)).toEqual([
    'ok',
    'ok',
    'ok',
    'warning',
  ]);
});

test('when an index is missing or has another form, then it is named with its fields', async () => {
  const { collection } = Operator;
  const found = async () => (await examineMongodb()).find(({ check }) => check === 'Indexes')?.found;
  await collection.dropIndex('name_1');
  const absent = await found();
  await collection.createIndex({ name: 1 });
  const notUnique = await found();
  await collection.dropIndex('name_1');
  await ensureIndexes();

  expect(absent).toMatch(/operators \(name\)$/);
  expect(notUnique).toMatch(/operators \(name\): drop the one of another form/);
  expect(await found()).toBe('all present');
});

test('when only the secret before the current one needs a lost key, then it counts until its overlap ends', async () => {
  const [lost, current] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64')) as [
    string,
    string,
  ];
  const until = (ms: number) => ({ secret: openSecretBox(lost).seal('whsec_b2xk'), until: new Date(Date.now() + ms) });
  const own = { _id: newId(), account_id: (await workspace.account()).id };
  await WebhookEndpoint.create({
    ...own,
    slot: 0,
    url: 'https://example.com/hooks',
    events: ['*'],
    secret: openSecretBox(current).seal('whsec_bmV3'),
    previous_secrets: [until(60_000)],
  });
  expect(await examineSecrets(current)).toMatchObject([
    { status: 'problem', found: expect.stringContaining('1 of 2') },
  ]);

  await WebhookEndpoint.updateOne(own, { previous_secrets: [until(-1)] }).setOptions(acrossAccounts);
  expect(await examineSecrets(current)).toMatchObject([{ status: 'ok' }]);
});

test('when an endpoint fails and deliveries are due, then the doctor says which and what to do', async () => {
  const { id } = await workspace.account();
  const endpointId = await addEndpoint(id, { url: 'https://dead.example.com/token', failures: 32, failingMinutes: 90 });
  await addDelivery({ accountId: id, endpointId, status: 'pending', minutesAgo: 90, dueMinutesAgo: 10 });
  const { mongodbUri, redisUrl, redisPrefix } = workspace;
  const env = { MONGODB_URI: mongodbUri, REDIS_URL: redisUrl, REDIS_PREFIX: redisPrefix };

  const { code, stdout } = await runAdmin(['doctor', '--json'], env);

  expect(code).toBe(1);
  const problems = (JSON.parse(stdout) as Finding[]).filter(({ check }) => /deliveries|endpoints/.test(check));
  expect(problems).toMatchObject([
    { check: 'Failing endpoints', status: 'problem', found: expect.stringContaining(`(${endpointId}): 32 failures`) },
    { check: 'Suspended deliveries', status: 'ok' },
    { check: 'Due deliveries', status: 'problem', advice: expect.stringContaining('webhook service runs') },
    { check: 'Pending deliveries', status: 'warning', found: '1 for over an hour, the oldest 90 min' },
  ]);
  expect(JSON.stringify(problems)).not.toContain('token');
});

test('when mail waits for a mail service, or its server does not take it, then the doctor says which and why', async () => {
  const problems = async () => (await examineMail()).map(({ status, found }) => `${status}: ${found}`);
  expect(await problems()).toEqual(['ok: none waits', 'ok: no mail waits for it']);
  const { id } = await workspace.account();
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const attempts = [{ at: minutesAgo(20) }, { at: minutesAgo(10), code: '535 5.7.8', text: 'Bad password' }];
  await insertMessage(id, { next_at: minutesAgo(7), due_at: minutesAgo(7) });
  await insertMessage(id, { due_at: minutesAgo(-30), attempts, attempts_made: 2 });
  await insertMessage(id, { due_at: minutesAgo(-30), attempts, attempts_made: 2, sender: 'own@north.example' });
  await insertMessage(id, { due_at: minutesAgo(-30), attempts: attempts.slice(1), attempts_made: 1 });
  expect(await problems()).toEqual([
    'problem: 1 message(s), the oldest for 7 min',
    'warning: 1 message(s) not taken at least twice: 535 5.7.8 Bad password',
  ]);
});
