// Operators of databases and template languages, in every field of every body, every parameter and every id.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { count, every, isFull, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { kindOf } from '../../support/operations.ts';
import { UNKNOWN_ID } from '../../support/records.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { parametersOf } from '../../support/route-table.ts';
import { storedCounts } from '../../support/stored.ts';
import { callable, fields, nameOf, senderOf } from './json-fields.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const OPERATORS =
  '$eq $ne $gt $gte $lt $lte $in $nin $exists $type $regex $not $or $and $nor $all $elemMatch $size $mod $where $expr $function $jsonSchema $text $comment $set $inc $unset $push $rename $currentDate $lookup $out $merge'.split(
    ' ',
  );
const IN_BODIES: unknown[] = [
  ...OPERATORS.map((operator) => ({ [operator]: null })),
  { $ne: '' },
  { $gt: '' },
  { $gte: 0 },
  { $in: [] },
  { $nin: ['x'] },
  { $regex: '.*', $options: 'si' },
  { $where: 'sleep(1000)' },
  { $where: 'this.account_id != 1' },
  { $expr: { $eq: [1, 1] } },
  { $expr: { $function: { body: 'function(){while(1);}', args: [], lang: 'js' } } },
  { $nor: [{}] },
  { $or: [{ a: 1 }, { b: { $ne: 1 } }] },
  { $not: { $size: 99 } },
  { $elemMatch: { $ne: null } },
  { $text: { $search: 'x' } },
  { $set: { account_id: 'x' } },
  { $oid: '0123456789abcdef01234567' },
  { $uuid: '0192e0a0-0000-7000-8000-000000000000' },
  { $date: 0 },
  { $numberLong: '1' },
  { $binary: { base64: 'AA==', subType: '04' } },
  { $code: 'x' },
  { $ref: 'accounts', $id: 1 },
  { _bsontype: 'ObjectId', id: 'x' },
  { _bsontype: 'Code', code: 'x' },
  { 'a.b': 1 },
  { 'account_id.$ne': null },
  { toString: 1, valueOf: 1 },
  { toJSON: 'x' },
  { length: 1e9 },
  [{ $ne: null }],
  [[{ $nor: [{}] }]],
  [null],
  [{ $ne: null }, { $ne: null }],
  Array.from({ length: 100 }, () => ({ $ne: null })),
  [['$where', 'sleep(1)']],
];
const IN_QUERIES = (name: string) => [
  ...['$ne', '$gt', '$regex', '$where', '$in', '$nin', '$exists', '$expr', '$or', ''].flatMap((operator) => [
    `${name}[${operator}]=x`,
    `${name}%5B${encodeURIComponent(operator)}%5D=x`,
  ]),
  `${name}[$ne]=1&${name}[$gt]=`,
  `${name}=1&${name}=2`,
  `${name}=1&${name}[$ne]=2`,
  `${name}[]=1&${name}[]=2`,
  `${name}[0]=1`,
  `${name}[a][b][c]=1`,
  `${name}.$ne=1`,
  `${name}[__proto__]=1`,
  `__proto__[${name}]=1`,
  `constructor[prototype][${name}]=1`,
  `constructor.prototype.${name}=1`,
  `$where=${name}`,
  `$or[0][${name}]=1`,
  `[${name}]=1`,
  `${name}%00=1`,
  `${name}%0d%0aX-Evil:1=1`,
];
/** Values that are invalid for every parameter except a search text. */
const AS_VALUES = [
  ...[
    '{"$ne":null}',
    '{"$gt":""}',
    '{"$regex":".*"}',
    '{"$where":"sleep(1000)"}',
    '[{"$nor":[{}]}]',
    '[object Object]',
  ],
  ...[
    "' || '1'=='1",
    "';return true;//",
    '$where',
    '$ne',
    '.*',
    '*',
    '^',
    'true, $where: "1 == 1"',
    '1; sleep(1000)',
    '||1==1',
  ],
  ...[
    'db.dropDatabase()',
    'this.account_id',
    '{{7*7}}',
    '$' + '{7*7}',
    '#{7*7}',
    '`id`',
    '$(id)',
    '../..',
    '\u0000',
    '%00',
    'a\u0000b',
  ],
  ...['null', 'undefined', 'NaN', '__proto__', 'constructor', 'hasOwnProperty', '0', '-1', '1e400', '9'.repeat(40)],
];
/** Each place tries one of this many. */
const STEP = isFull ? 1 : 40;

test('when the payloads are counted, then there are about 70 distinct ones for bodies, and more for queries', () => {
  expect(new Set(IN_BODIES.map((payload) => JSON.stringify(payload))).size).toBeGreaterThanOrEqual(68);
  expect(new Set(AS_VALUES).size + IN_QUERIES('x').length).toBeGreaterThanOrEqual(70);
});

describe.each(
  sampled([...Map.groupBy(fields, ({ row }) => row)]).map(([row, of]) => [row.operation, row, of] as const),
)('the body of %s', (_operation, row, fieldsOfRow) => {
  test('when a field contains an operator, then 4xx and nothing is stored', async () => {
    const { send, bodyWith } = await senderOf(gateway, row);
    const before = await storedCounts();
    let cases = 0;
    for (const [index, field] of fieldsOfRow.entries()) {
      // A field for any object, such as the headers of a call, accepts these, too.
      if (field.shape.type === 'object') continue;
      for (const payload of every(IN_BODIES, STEP, index)) {
        // A printed line may lack every field: unknown ones are dropped, and what is left is a valid line.
        if (row.operation === 'generatePdf' && nameOf(field).endsWith('lineItems') && Array.isArray(payload)) continue;
        const literal = JSON.stringify(payload);
        expectRefusal(await send(bodyWith(field, literal)), `${nameOf(field)}: ${literal.slice(0, 80)}`);
        cases += 1;
      }
    }
    expect(await storedCounts()).toEqual(before);
    count('operators', cases);
  });
});

/** Parameters that accept any text. */
const FREE_TEXT = new Set(['q', 'number', 'external_id', 'member', 'owner', 'recipient']);

describe.each(sampled(callable.filter(({ query }) => query)).map((row, index) => [row.operation, row, index] as const))(
  'the query of %s',
  (_operation, row, index) => {
    test('when a parameter is or contains an operator, then 4xx and nothing is stored', async () => {
      const { sendTo } = await senderOf(gateway, row);
      const before = await storedCounts();
      let cases = 0;
      for (const [position, [name, { type }]] of Object.entries(
        parametersOf(row) as Record<string, { type?: string }>,
      ).entries()) {
        const values = FREE_TEXT.has(name) ? [] : AS_VALUES.filter((value) => !(type === 'digits' && value === '0'));
        const queries = [...IN_QUERIES(name), ...values.map((value) => `${name}=${encodeURIComponent(value)}`)];
        for (const query of every(queries, STEP, index + position)) {
          expectRefusal(await sendTo(query), `${name}: ${query.slice(0, 80)}`);
          cases += 1;
        }
      }
      expect(await storedCounts()).toEqual(before);
      count('operators', cases);
    });
  },
);

describe.each(
  callable.filter(({ path }) => path.includes('{id}')).map((row, index) => [row.operation, row, index] as const),
)('the path of %s', (_operation, row, index) => {
  test('when the id is or contains an operator, then 404 as for any other unknown id', async () => {
    const before = await storedCounts();
    const values = every(AS_VALUES, STEP, index);
    for (const value of values) {
      const path = row.path
        .replace('{id}', encodeURIComponent(value))
        .replace('{position}', '1')
        .replace('{link_id}', UNKNOWN_ID);
      const reply = await gateway.call(row.method.toUpperCase(), path, row.body ? { body: {} } : {});
      // The client already resolves a dot segment, which makes it another path.
      const expected = value === '../..' ? [404] : [404, 400];
      expect([kindOf(path), value, expected.includes(reply.status)]).toEqual([kindOf(path), value, true]);
      expectRefusal(reply, value);
    }
    expect(await storedCounts()).toEqual(before);
    count('operators', values.length);
  });
});

test('when a search text looks like an operator, then it is searched for literally', async () => {
  const { send, bodyAnd } = await senderOf(
    gateway,
    callable.find(({ operation }) => operation === 'addClient') as never,
  );
  await send(bodyAnd({}));
  for (const value of AS_VALUES.filter((text) => !text.includes('\u0000') && text.length > 3)) {
    const reply = await gateway.get(`/api/v1/clients?q=${encodeURIComponent(value)}`);
    expect([value, reply.status, reply.body.data]).toEqual([value, 200, []]);
    count('operators', 1);
  }
});
