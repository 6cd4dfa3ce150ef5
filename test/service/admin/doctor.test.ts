// The checks of `admin doctor` on a database: one that cannot be made hides no other.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { examineMongodb } from '../../../services/admin/doctor-stores.ts';
import { withErrors } from '../../support/mongodb-errors.ts';
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
  const results = await withErrors(failing, examineMongodb);

  const statusOf = (name: string) => results.find(({ check }) => check === name)?.status;
  expect(statusOf('Outbox')).toBe('problem');
  expect(['MongoDB version', 'Indexes', 'Payments ledger', 'Operators'].map(statusOf)).toEqual([
    'ok',
    'ok',
    'ok',
    'warning',
  ]);
});
