// The operator's command line for the dashboard, the queues and the doctor, as real processes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { fanOutEvent } from '#libs/jobs/catalog.ts';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { CommandError } from '../../../services/admin/connection.ts';
import { examineMongodb } from '../../../services/admin/doctor-stores.ts';
import { createOperator, dropOperator, listOperators } from '../../../services/admin/operators.ts';
import { queueCommands } from '../../../services/admin/queues.ts';
import { type Browser, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { addFailedJobs } from '../../support/dashboard/failed-jobs.ts';
import { errorLineOf } from '../../support/error-line.ts';
import { runAdmin } from '../../support/run-admin.ts';
import { spawnService } from '../../support/spawn-service.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard.close());

function admin(args: string[], { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {}) {
  const { mongodbUri, redisUrl, redisPrefix } = dashboard.workspace;
  const place = { MONGODB_URI: mongodbUri, REDIS_URL: redisUrl, REDIS_PREFIX: redisPrefix };
  return runAdmin(args, { ...place, ...env }, input);
}

async function adminJson(...args: string[]) {
  const { code, stdout, stderr } = await admin([...args, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const login = async (browser: Browser, name: string, password: string) =>
  (await browser.post('/login', { name, password })).status;

describe('operators', () => {
  test('when one is created, then the printed password opens the dashboard, and a new one replaces it', async () => {
    const made = await adminJson('operators', 'create', '--name', 'Ada', '--role', 'operator');
    expect(made).toMatchObject({ name: 'ada', role: 'operator', password: expect.stringMatching(/^[\w-]{24}$/) });
    const browser = dashboard.browser();
    expect(await login(browser, 'ada', made.password)).toBe(303);

    const again = createOperator({ name: 'ada', role: 'viewer' });
    await expect(again).rejects.toThrow(/^There is an operator ada already/);
    const replaced = await adminJson('operators', 'create', '--name', 'ada', '--role', 'operator', '--replace');

    expect((await browser.get('/')).status).toBe(303);
    expect(await login(dashboard.browser(), 'ada', made.password)).toBe(401);
    expect(await login(dashboard.browser(), 'ada', replaced.password)).toBe(303);
    const entries = await AuditEntry.find({ operator: 'command line', action: 'operator.create', target: 'ada' });
    expect(entries.map(({ outcome }) => outcome).sort()).toEqual(['done', 'done', 'failed']);
  });

  test('when a password is given, then it is read from standard input and shown nowhere', async () => {
    const input = 'correct horse battery staple\n';
    const { code, stdout } = await admin(['operators', 'create', '--name', 'bob', '--password-stdin'], { input });

    expect([code, stdout.includes('correct horse')]).toEqual([0, false]);
    expect(await login(dashboard.browser(), 'bob', input.trim())).toBe(303);
  });

  test('when one is removed, then they are no longer listed and their session ends', async () => {
    const carol = await dashboard.login('viewer', 'carol');
    expect((await adminJson('operators', 'list')).map(({ name }: { name: string }) => name)).toContain('carol');

    await adminJson('operators', 'remove', 'carol');

    expect((await listOperators()).map(({ name }) => name)).not.toContain('carol');
    expect((await carol.get('/')).status).toBe(303);
  });

  test.each([
    ['a short password', ['operators', 'create', '--name', 'x', '--password-stdin'], /12 to 200 characters/],
    ['an unknown queue', ['queues', 'pause', 'laundry'], /no queue laundry.*render-document/],
  ])('when the command line gets %s, then one line says so', async (_what, args, message) => {
    const { code, stdout, stderr } = await admin(args, { input: 'short' });

    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['an unknown role', () => createOperator({ name: 'x', role: 'king' }), /operator or viewer/],
    ['a name with a space', () => createOperator({ name: 'x y', role: 'viewer' }), /letters, digits/],
    ['an unknown operator', () => dropOperator('absent'), /no operator absent/],
    [
      'a job that is gone',
      () => queueCommands.retry(dashboard.queues, 'fan-out-event', 'never-was'),
      /never-was is gone/,
    ],
  ])('when a command gets %s, then its error says so', async (_what, work, message) => {
    expect(await errorLineOf(work(), CommandError)).toMatch(message);
  });
});

describe('queues', () => {
  test('when a queue is paused and resumed, then the list shows it and the audit log has both commands', async () => {
    expect(await adminJson('queues', 'pause', 'fan-out-event')).toMatchObject({ state: 'PAUSED' });
    expect(await dashboard.queues.raw(fanOutEvent).isPaused()).toBe(true);
    expect((await admin(['queues', 'list'])).stdout).toMatch(/fan-out-event +PAUSED/);

    await adminJson('queues', 'resume', 'fan-out-event');

    expect(await dashboard.queues.raw(fanOutEvent).isPaused()).toBe(false);
    const entries = await AuditEntry.find({ operator: 'command line', target: 'fan-out-event' })
      .sort({ _id: 1 })
      .lean();
    expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['queue.pause', 'done'],
      ['queue.resume', 'done'],
    ]);
  });

  test('when failed jobs are retried, one or all, then they wait again', async () => {
    const ids = await addFailedJobs(dashboard.queues, dashboard.workspace, fanOutEvent, ['a', 'b', 'c']);

    await adminJson('queues', 'retry', 'fan-out-event', String(ids[0]));
    expect(await adminJson('queues', 'retry', 'fan-out-event')).toEqual({ queue: 'fan-out-event', retried: 2 });

    const states = await Promise.all(ids.map((id) => dashboard.queues.stateOf(fanOutEvent, id)));
    expect(states).toEqual(['waiting', 'waiting', 'waiting']);
  });
});

describe('doctor', () => {
  interface Finding {
    status: string;
    check: string;
    found: string;
    advice?: string;
  }
  async function findings(env: Record<string, string> = {}, args: string[] = []) {
    const { code, stdout } = await admin(['doctor', '--json', ...args], { env });
    const all = JSON.parse(stdout) as Finding[];
    return { code, of: (check: string) => all.find((each) => each.check === check) };
  }

  test('when the stores are healthy, then it says so, and names what a single machine lacks', async () => {
    const { code, of } = await findings({ SECRET_KEY: dashboard.workspace.secretKey });

    expect(code).toBe(0);
    for (const check of [
      'Configuration',
      'SECRET_KEY',
      'MongoDB replica set',
      'MongoDB health',
      'MongoDB clock',
      'Indexes',
      'Redis clock',
    ]) {
      expect(of(check)).toMatchObject({ status: 'ok' });
    }
    expect(of('Redis maxmemory-policy')).toMatchObject({ status: 'ok', found: 'noeviction' });
    expect(of('Redis append-only file')).toMatchObject({ status: 'ok' });
    expect(of('MongoDB members')).toMatchObject({ status: 'warning', advice: expect.stringContaining('three') });
    expect(of('Queue render-document')).toMatchObject({
      status: 'warning',
      found: expect.stringContaining('0 worker'),
    });
  });

  test('when an index is missing and a queue is paused, then it names both, and the commands that repair them', async () => {
    await mongoose.connection.collection('deliveries').dropIndex('due_at_1');
    await dashboard.queues.raw(fanOutEvent).pause();

    const { code, of } = await findings();
    await admin(['migrate']);
    await dashboard.queues.raw(fanOutEvent).resume();

    expect([code, of('Indexes')]).toEqual([
      1,
      {
        status: 'problem',
        check: 'Indexes',
        found: 'missing: deliveries (due_at)',
        advice: expect.stringContaining('migrate'),
      },
    ]);
    expect(of('Queue fan-out-event')).toMatchObject({
      status: 'problem',
      advice: expect.stringContaining('admin queues resume fan-out-event'),
    });
    const [indexes] = (await examineMongodb()).filter(({ check }) => check === 'Indexes');
    expect(indexes).toMatchObject({ status: 'ok' });
  });

  test('when the configuration is wrong and the stores are unavailable, then each problem is listed with what to do', async () => {
    const { code, of } = await findings({
      LOG_LEVEL: 'loud',
      SECRET_KEY: 'short',
      MONGODB_URI: 'mongodb://127.0.0.1:1/?replicaSet=rs0',
      REDIS_URL: 'redis://127.0.0.1:1',
    });

    expect(code).toBe(1);
    expect(of('Configuration')?.found).toMatch(/LOG_LEVEL.*SECRET_KEY/s);
    expect(of('MongoDB')).toMatchObject({ status: 'problem', advice: expect.any(String) });
    expect(of('Redis')).toMatchObject({ status: 'problem', advice: expect.any(String) });
  });

  test('when a browser and services are named, then each is checked, and one that does not respond is a problem', async () => {
    const renderer = await spawnService('renderer', dashboard.workspace);
    const unreachable = 'http://127.0.0.1:1';

    const { code, of } = await findings({ CHROMIUM_PATH: dashboard.workspace.chromiumPath }, [
      '--services',
      renderer.healthUrl,
      unreachable,
    ]);
    await renderer.stop();

    expect(of('Chromium')).toMatchObject({ status: 'ok', found: expect.stringMatching(/Chrom/) });
    expect(of('Chromium sandbox')?.status).toMatch(/ok|warning/);

    expect(of('Service renderer')).toMatchObject({ status: 'ok', found: expect.stringContaining('ready') });
    // Its absence is a warning, never a problem: documents are printed either way.
    expect(of('Service renderer: sandbox')?.status ?? 'ok').toMatch(/ok|warning/);
    expect([code, of(`Service at ${unreachable}`)?.status]).toEqual([1, 'problem']);
  });
});
