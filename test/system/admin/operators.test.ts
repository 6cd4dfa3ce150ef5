// Operators made and removed on the command line, while the store fails in between.
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { AuditEntry } from '#libs/models/operations/audit-entry.ts';
import { findByPassword, Operator } from '#libs/models/operations/operator.ts';
import { createOperator, dropOperator } from '../../../services/admin/operators.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

const [OLD, NEW] = ['the old long password', 'the new long password'];
/** Not an election, which would be retried. */
const FAILED = 96;

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterEach(async () => {
  await Operator.deleteMany({});
  await AuditEntry.deleteMany({});
});
afterAll(() => workspace.close());

const entries = async () =>
  (await AuditEntry.find().sort({ _id: 1 }).lean()).map(({ action, target, outcome, detail }) => [
    action,
    target,
    outcome,
    detail,
  ]);

/** The insert into a collection fails, or another command. */
const failing = (collection: string, command = 'insert') => ({
  failCommands: [command],
  namespace: `${mongoose.connection.name}.${collection}`,
  errorCode: FAILED,
});

test('when an operator is replaced and the store fails in between, then the former password and role still hold', async () => {
  await createOperator({ name: 'ada', role: 'operator', password: OLD });

  const replacing = { name: 'ada', role: 'viewer', password: NEW, replace: true };
  await withErrors(failing(Operator.collection.name), () => expect(createOperator(replacing)).rejects.toThrow());

  expect(await findByPassword('ada', OLD)).toMatchObject({ role: 'operator' });
  expect((await entries()).at(-1)).toEqual(['operator.create', 'ada', 'failed', expect.any(String)]);
});

test('when an operator is replaced, then only the new password and role hold', async () => {
  await createOperator({ name: 'ada', role: 'operator', password: OLD });
  await createOperator({ name: 'Ada', role: 'viewer', password: NEW, replace: true });

  expect(await findByPassword('ada', OLD)).toBeNull();
  expect(await findByPassword('ada', NEW)).toMatchObject({ role: 'viewer' });
  expect(await entries()).toEqual([
    ['operator.create', 'ada', 'done', 'operator'],
    ['operator.create', 'ada', 'done', 'viewer, replaced'],
  ]);
});

test('when the log takes no entry, then no operator is made or removed', async () => {
  const refused = failing(AuditEntry.collection.name);
  const making = { name: 'ada', role: 'operator', password: OLD };
  await withErrors(refused, () => expect(createOperator(making)).rejects.toThrow());
  expect(await Operator.countDocuments()).toBe(0);

  await createOperator(making);
  await withErrors(refused, () => expect(dropOperator('ada')).rejects.toThrow());
  expect(await Operator.countDocuments()).toBe(1);
});

test('when the log takes no outcome, then the password that was made is shown all the same', async () => {
  const made = await withErrors(failing(AuditEntry.collection.name, 'update'), () =>
    createOperator({ name: 'ada', role: 'operator' }),
  );

  expect(await findByPassword('ada', made.password ?? '')).toMatchObject({ role: 'operator' });
  expect(await entries()).toEqual([['operator.create', 'ada', 'begun', undefined]]);
});
