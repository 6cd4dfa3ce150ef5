// The versions of running processes and the age of the last backup, on the overview and for `admin doctor`.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { Account } from '#libs/models/accounts/account.ts';
import { BackupRecord, readBackupState } from '#libs/models/operations/backup-record.ts';
import { connectFailFast, whenReady } from '#libs/redis/connection.ts';
import { processName, readProcesses } from '#libs/redis/processes.ts';
import { release } from '#libs/service/release.ts';
import { recordBackup } from '../../../deploy/backup/record.ts';
import { examineBackup } from '../../../services/admin/doctor-backup.ts';
import { examineVersions } from '../../../services/admin/doctor-service.ts';
import { type Browser, startDashboard, type TestDashboard } from '../../support/dashboard/dashboard.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/workspace.ts';

const HOUR_MS = 3_600_000;

let dashboard: TestDashboard;
let viewer: Browser;
beforeAll(async () => {
  dashboard = await startDashboard();
  viewer = await dashboard.login('viewer');
});
afterAll(() => dashboard.close());

const overview = async () => (await viewer.get('/')).text;
const client = () => mongoose.connection.getClient() as unknown as Parameters<typeof recordBackup>[0];

test('when processes are connected, then each is shown once with its version, those of another system are not, and a difference is noticed', async () => {
  const { redisUrl, redisPrefix: prefix } = dashboard.workspace;
  const connect = async (name: string) => {
    const redis = connectFailFast(redisUrl, testLog, name);
    await whenReady(redis, 60_000);
    return redis;
  };
  const same = [await connect(processName('gateway', prefix)), await connect(processName('gateway', prefix))];
  const foreign = await connect(processName('renderer', `${prefix}-other`));
  const name = `${process.pid}`;

  expect(await readProcesses(dashboard.queues.redis, prefix)).toEqual([
    {
      service: 'gateway',
      version: release(),
      name: expect.stringMatching(new RegExp(`/${name}$`)),
      connectedMs: expect.any(Number),
    },
  ]);
  expect((await examineVersions(dashboard.queues))[0]).toMatchObject({ status: 'ok', found: `${release()} (gateway)` });
  expect(await overview()).toMatch(new RegExp(`<dt>gateway</dt><dd>${release()}<small>1 process<`));

  const newer = await connect(processName('renderer', prefix, '99.0.0'));
  expect((await examineVersions(dashboard.queues))[0]).toMatchObject({ status: 'warning' });
  expect(await overview()).toMatch(/Processes run different versions: [\s\S]*99\.0\.0 \(renderer\)/);

  for (const redis of [...same, foreign, newer]) redis.disconnect();
  await eventually(async () => (await readProcesses(dashboard.queues.redis, prefix)).length === 0);
});

test('when no backup was made, then the age counts from the first account, and from the last backup afterwards', async () => {
  await Account.deleteMany({});
  expect(await readBackupState()).toMatchObject({ savedAt: undefined, ageMs: 0 });
  expect((await examineBackup())[0]).toMatchObject({ status: 'ok', found: 'nothing to back up yet' });

  await Account.create({ name: 'First', created_at: new Date(Date.now() - 72 * HOUR_MS) });
  await Account.create({ name: 'Second' });
  expect((await examineBackup())[0]).toMatchObject({ status: 'warning', found: expect.stringContaining('72 h') });
  expect(await overview()).toContain('No backup was recorded since the first account was made, 3 d ago.');

  await recordBackup(client(), new Date(Date.now() - 5 * HOUR_MS), 1_234);
  const text = await overview();
  expect(text).not.toContain('No backup was recorded');
  expect(text).toMatch(/Last backup<\/dt><dd><time[^>]*>5 h ago<\/time><small>1,234 records</);
  expect((await examineBackup())[0]).toMatchObject({ status: 'ok', found: 'the last is 5 h old' });
});

test('when an older backup is recorded late, then the newer one stays, and one of another program has no number of records', async () => {
  const now = Date.now();
  await recordBackup(client(), new Date(now), 5);
  await recordBackup(client(), new Date(now - HOUR_MS), 4);
  expect(await readBackupState()).toMatchObject({ savedAt: new Date(now), documents: 5 });

  await recordBackup(client(), new Date(now + 1));
  expect(await readBackupState()).toMatchObject({ savedAt: new Date(now + 1), documents: undefined });
  expect(await overview()).toContain('made by another program');
  expect(await BackupRecord.countDocuments()).toBe(1);
});
