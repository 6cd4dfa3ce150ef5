// The last barrier between accounts: a query on a tenant's collection that does not name one account is never sent.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { acrossAccounts, newId, storedId, wireId } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { openWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await openWorkspace();
});
afterAll(() => workspace.close());

const id = newId();

test.each([
  ['find', () => Event.find({ _id: id })],
  ['findOne', () => Event.findOne({ _id: id })],
  ['findOneAndUpdate', () => Event.findOneAndUpdate({ _id: id }, { $set: { type: 'x' } })],
  ['countDocuments', () => Event.countDocuments({})],
  ['distinct', () => Event.distinct('type', {})],
  ['updateMany', () => Event.updateMany({}, { $set: { type: 'x' } })],
  ['deleteMany', () => Event.deleteMany({ _id: id })],
  ['an operator for the account', () => Event.find({ account_id: { $ne: null } } as never)],
  ['an aggregation', () => Event.aggregate([{ $match: { type: 'x' } }])],
])('when %s does not name one account, then it throws', async (_what, query) => {
  await expect(query().exec()).rejects.toThrow('does not name the account');
});

test('when a query names the account, or is marked as one across accounts, then it runs', async () => {
  expect(await Event.find({ account_id: id })).toEqual([]);
  expect(await Event.aggregate([{ $match: { account_id: storedId(id) } }])).toEqual([]);
  expect(await Event.find({}).setOptions(acrossAccounts)).toEqual([]);
});

test('when an id is stored and read, then it is the same as on the wire', () => {
  for (const one of [id, '00000000-0000-0000-0000-000000000000', '82719ca6-c3fe-896a-bc49-c93987a04e40']) {
    expect(wireId(storedId(one))).toBe(one);
    expect(String(storedId(one))).toBe(one);
  }
});
