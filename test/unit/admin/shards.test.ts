// The plan of a sharded cluster: its keys, its commands, and how commands are sorted by the shards that they ask.
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { mongo } from 'mongoose';
import { allModels } from '#libs/models/indexes.ts';
import { shardingOfAll, UNSHARDED } from '#libs/models/sharding.ts';
import { planShards, scriptOf } from '../../../services/admin/shards/shard-plan.ts';
import { COMMANDS_TO_ALL_SHARDS } from '../../support/shards/commands-to-all-shards.ts';
import { asksOf } from '../../support/shards/judge-command.ts';
import { watchCommands } from '../../support/shards/watch-commands.ts';

const fields = new Map(shardingOfAll().map(({ collection, field }) => [collection, field]));

test('when a collection is spread, then each of its unique indexes begins with the shard key', () => {
  const unique = allModels.flatMap(({ collection, schema }) =>
    schema
      .indexes()
      .filter(([, options]) => options.unique)
      .map(([key]) => ({ name: collection.name, first: Object.keys(key)[0], key })),
  );
  const wrong = unique.filter(({ name, first }) => fields.get(name) !== undefined && fields.get(name) !== first);
  expect(unique.length).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});

test('when a collection stays on one shard, then the plan says why', () => {
  const kept = shardingOfAll().filter(({ field }) => !field);
  expect(kept.filter(({ reason }) => !reason)).toEqual([]);
  expect(Object.keys(UNSHARDED).filter((name) => !fields.has(name))).toEqual([]);
});

test('when a plan is made, then all collections have the same division of the hashes, without a gap', () => {
  const steps = planShards({ database: 'billhook', shards: ['one', 'two', 'three'] });
  const script = scriptOf(steps);
  const ranges = [...script.matchAll(/"billhook\.(\w+)", \{ \w+: (.+?) \}, \{ \w+: (.+?) \}, "(.+)"/g)];
  const divisions = Map.groupBy(ranges, ([, collection]) => collection);
  const spread = shardingOfAll().flatMap(({ collection, field }) => (field ? [collection] : []));
  expect([...divisions.keys()]).toEqual(spread);
  for (const division of divisions.values())
    expect(division.map(([, , from, to, zone]) => [from, to, zone])).toEqual([
      ['MinKey()', 'NumberLong("-3074457345618258603")', 'billhook-1'],
      ['NumberLong("-3074457345618258603")', 'NumberLong("3074457345618258602")', 'billhook-2'],
      ['NumberLong("3074457345618258602")', 'MaxKey()', 'billhook-3'],
    ]);
  expect(script).toContain('sh.shardCollection("billhook.counters", { _id: "hashed" })');
  expect(script.indexOf('createIndex')).toBeLessThan(script.indexOf('shardCollection'));
  expect(script.indexOf('stopBalancer')).toBeLessThan(script.indexOf('startBalancer'));
});

test.each([
  [{ database: 'billhook', shards: ['one'] }, /at least two/],
  [{ database: 'billhook', shards: ['one', 'one'] }, /twice/],
  [{ database: 'a"b', shards: ['one', 'two'] }, /no name/],
])('when the names %j are no names, then no plan is made', (names, problem) => {
  expect(() => planShards(names)).toThrow(problem);
});

const OWN = '0199d4c0-0000-7000-8000-000000000001';

test.each([
  ['one account', { find: 'invoices', filter: { account_id: OWN, status: 'Sent' } }],
  ['one account', { find: 'invoices', filter: { $and: [{ account_id: { $in: [OWN] } }, { status: 'Sent' }] } }],
  ['one account', { update: 'counters', updates: [{ q: { _id: OWN }, u: {}, upsert: true }] }],
  ['one account', { insert: 'events', documents: [{ account_id: OWN }] }],
  ['unsharded', { find: 'api_keys', filter: { hash: 'x' } }],
  ['all', { find: 'invoices', filter: { _id: 'x' } }],
  ['all', { find: 'invoices', filter: { $or: [{ account_id: OWN }, { status: 'Sent' }] } }],
  ['all', { find: 'invoices', filter: { account_id: { $gt: OWN } } }],
  ['all', { update: 'invoices', updates: [{ q: { _id: 'x' }, u: {} }] }],
  ['refused', { findAndModify: 'invoices', query: { _id: 'x' } }],
  ['refused', { update: 'invoices', updates: [{ q: { status: 'Sent' }, u: {} }] }],
  ['refused', { update: 'invoices', updates: [{ q: { _id: 'x' }, u: {}, upsert: true }] }],
  ['refused', { distinct: 'invoices', query: { account_id: OWN }, autocommit: false }],
])('sorts as %s: %j', (shards, command) => {
  expect(asksOf(command).map((ask) => ask.shards)).toEqual([shards]);
});

test('when a pipeline joins another collection without the account, then it asks all shards', () => {
  const joined = { $lookup: { from: 'payments', localField: '_id', foreignField: 'invoice_id', as: 'paid' } };
  const asks = asksOf({ aggregate: 'invoices', pipeline: [{ $match: { account_id: OWN } }, joined] });
  expect(asks.map(({ collection, shards }) => [collection, shards])).toEqual([
    ['invoices', 'one account'],
    ['payments', 'all'],
  ]);
});

test('when a command has no row, or a transaction has two accounts, then the watcher complains once', () => {
  const client = new EventEmitter();
  const complaints: string[] = [];
  watchCommands(
    client as unknown as mongo.MongoClient,
    (text) => void complaints.push(text),
    () => true,
  );
  const send = (command: object) => client.emit('commandStarted', { command });
  const transaction = { lsid: { id: 'session' }, txnNumber: 1, autocommit: false };
  send({ find: 'deliveries', filter: { due_at: { $lte: 1 } } });
  expect(complaints).toEqual([]);
  send({ find: 'invoices', filter: { notes: 'x' } });
  send({ find: 'invoices', filter: { notes: 'y' } });
  send({ insert: 'clients', documents: [{ account_id: OWN }], ...transaction });
  send({ insert: 'clients', documents: [{ account_id: OWN.replace(/1$/, '2') }], ...transaction });
  expect(complaints).toEqual([
    'find of invoices by notes asks all shards: add a row or the account',
    'a transaction with insert of clients by nothing has not one account',
  ]);
});

test('when a command asks all shards, then docs/scale.md says so with its reason and cost', () => {
  const page = readFileSync('docs/scale.md', 'utf8');
  const rows = COMMANDS_TO_ALL_SHARDS.map(
    ({ by, collections, kind, fields: names, reason, cost }) =>
      `| ${by} | ${kind} of ${collections.map((name) => `\`${name}\``).join(', ')} by ${names.map((name) => `\`${name}\``).join(', ')} | ${reason} | ${cost} |`,
  );
  expect(page).toContain(`${rows.join('\n')}\n`);
});
