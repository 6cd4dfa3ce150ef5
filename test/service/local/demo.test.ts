// The demo account and its operator: made once in the database, and kept as long as they are usable.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Account, type AccountRecord } from '#libs/models/accounts/account.ts';
import { ApiKey } from '#libs/models/accounts/api-key.ts';
import { acrossAccounts } from '#libs/models/tenant.ts';
import { openDemoAccount, openDemoOperator } from '../../../deploy/local/demo.ts';
import { DEMO_PROFILE } from '../../../deploy/local/demo-profile.ts';
import { revokeKey } from '../../../services/admin/keys.ts';
import { createOperator, dropOperator } from '../../../services/admin/operators.ts';
import { accountChanges } from '../../../services/gateway/account/input.ts';
import { scratchFolders } from '../../support/scratch.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());
const scratch = scratchFolders();

test('when the demo account is opened again, then account and key are the same', async () => {
  const dataFolder = await scratch();
  const made = await openDemoAccount(dataFolder);

  expect(await openDemoAccount(dataFolder)).toEqual(made);
  expect(JSON.parse(await readFile(join(dataFolder, 'demo.json'), 'utf8'))).toEqual(made);
});

test.each([
  ['was revoked', async (_folder: string, accountId: string) => void (await revokeKey(await keyOf(accountId)))],
  [
    'belongs to another database',
    (folder: string) =>
      writeFile(join(folder, 'demo.json'), JSON.stringify({ accountId: 'other', key: 'bh_live_other' })),
  ],
])('when the key %s, then another account is made', async (_what, lose) => {
  const dataFolder = await scratch();
  const before = await openDemoAccount(dataFolder);
  await lose(dataFolder, before.accountId);

  const after = await openDemoAccount(dataFolder);

  expect(after.accountId).not.toBe(before.accountId);
  expect(after.key).not.toBe(before.key);
});

test('when the demo account is made, then it has an example profile that the API accepts, for whole documents', async () => {
  const { accountId } = await openDemoAccount(await scratch());

  const account = await Account.findById(accountId).lean<AccountRecord>();

  expect(account).toMatchObject(DEMO_PROFILE);
  expect(accountChanges.validate(DEMO_PROFILE).error).toBeUndefined();
});

test.each([
  ['is unchanged', async () => {}, 'its password'],
  ['has another password now', () => createOperator({ name: 'demo', role: 'operator', replace: true }), 'no password'],
  ['was removed', () => dropOperator('demo'), 'another password'],
])('when the demo operator %s, then no outdated password is shown', async (_what, change, shown) => {
  const dataFolder = await scratch();
  const before = await openDemoOperator(dataFolder, 'account-0');
  await change();

  const after = await openDemoOperator(dataFolder, 'account-0');

  const isSame = after.password === before.password;
  expect(after.password === undefined ? 'no password' : isSame ? 'its password' : 'another password').toBe(shown);
});

async function keyOf(accountId: string): Promise<string> {
  const key = await ApiKey.findOne({ account_id: accountId }).setOptions(acrossAccounts).lean<{ _id: unknown }>();
  return String(key?._id);
}
