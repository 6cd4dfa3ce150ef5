// Every fact that may happen only once has a unique index in the database, whatever code writes it.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { newId, storedId } from '#libs/models/tenant.ts';
import { isDuplicate } from '#libs/mongo/errors.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

const claimed = storedId(newId());

test.each<[string, string, object]>([
  ['an external payment is recorded twice', 'payments', { external_id: 'ch_1' }],
  ['an external refund is recorded twice', 'payments', { refund_external_ids: ['re_1'] }],
  ['a refund of a credit note is recorded twice', 'credit_notes', { refund_external_ids: ['re_1'] }],
  ['a quote is billed in full twice', 'invoices', { quote_claim: claimed }],
  ['a line draws from a package twice', 'hour_drawdowns', { invoice_id: claimed, line: 1, package_id: claimed }],
  ['a second timer of an owner runs', 'timers', { owner_key: 'ada', status: 'running' }],
  ['a second timer becomes the same entry', 'timers', { time_entry_id: claimed, status: 'stopped' }],
])('when %s, then the database rejects it; in another account it is allowed', async (_what, collection, fields) => {
  const insert = (account_id: unknown) =>
    mongoose.connection.collection(collection).insertOne({ _id: storedId(newId()) as never, account_id, ...fields });
  const account_id = storedId(newId());
  await insert(account_id);

  const outcome = await insert(account_id).catch((error: unknown) => error);
  expect(isDuplicate(outcome)).toBe(true);
  await insert(storedId(newId()));
});
