// Stored counts, from which lists take their totals: the doctor compares them with the records, and a command repairs them.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Counter } from '#libs/models/counter.ts';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { storedId } from '#libs/models/tenant.ts';
import { Task } from '#libs/models/time/task.ts';
import { examineTotals } from '../../../services/admin/doctor-totals.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { create, createClient, createProject, UNKNOWN_ID } from '../../support/records.ts';
import { runAdmin } from '../../support/run-admin.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const recount = (...ids: string[]) =>
  runAdmin(['accounts', 'recount', ...ids, '--json'], { MONGODB_URI: gateway.workspace.mongodbUri });

test('when a count is wrong, then the doctor names it and the command to run, and that command repairs it', async () => {
  const { id } = gateway.account;
  await createClient(gateway, {});
  expect(await examineTotals()).toMatchObject([{ status: 'ok' }]);
  await Counter.collection.updateOne({ _id: storedId(id) as never }, { $set: { 'counts.clients/all': 9 } });

  const [found] = await examineTotals();
  expect(found).toMatchObject({ status: 'problem', found: `wrong in account ${id}: clients/all` });
  expect(found?.advice).toContain('admin accounts recount');
  const { code, stdout, stderr } = await recount(id);
  expect([code, stderr, JSON.parse(stdout)]).toEqual([0, '', [{ id, corrected: 'clients/all' }]]);
  expect(await examineTotals()).toMatchObject([{ status: 'ok' }]);
  expect((await gateway.get('/api/v1/clients')).body.pagination.total).toBe(1);
  const entry = await AuditEntry.findOne({ action: 'account.recount' }).lean();
  expect(entry).toMatchObject({ target: id, outcome: 'done', detail: 'wrong were: clients/all' });
});

test('when an account has no counts yet, then the doctor warns, and a recount of all accounts creates them', async () => {
  const { id } = gateway.account;
  await Counter.collection.updateOne({ _id: storedId(id) as never }, { $unset: { counts: 1 } });

  expect(await examineTotals()).toMatchObject([{ status: 'warning', advice: 'Run "admin accounts recount"' }]);
  expect((await recount()).code).toBe(0);
  expect(await examineTotals()).toMatchObject([{ status: 'ok' }]);
});

test('when the total of a task is wrong, then the same command repairs it', async () => {
  const { id } = gateway.account;
  const project_id = (await createProject(gateway)).id;
  const task = await create(gateway, '/api/v1/tasks', { project_id, name: 'Draw' });
  await Task.collection.updateOne({ _id: storedId(task.id) as never }, { $set: { total_seconds: 5 } });

  const { code, stdout } = await recount(id);
  expect([code, JSON.parse(stdout)]).toEqual([0, [{ id, corrected: `task/${task.id}` }]]);
  expect((await gateway.get(`/api/v1/tasks/${task.id}`)).body.data.total_seconds).toBe(0);
});

test('when the account is unknown, then the command says so', async () => {
  const { code, stderr } = await recount(UNKNOWN_ID);

  expect([code, stderr]).toEqual([1, `No account has the id ${UNKNOWN_ID}\n`]);
});
