// Hostile input: rejected with the error envelope, never a 500, and nothing is stored.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { every, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor, filledPath, kindOf, make } from '../../support/operations.ts';
import { createClient, createProject } from '../../support/records.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { fieldsOf, parametersOf, routeTable } from '../../support/route-table.ts';
import { storedCounts } from '../../support/stored.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** JSON as text, some of which no serialiser writes. None of it is a valid value of any field. */
const NEVER_A_VALUE = ['[[{"$nor":[{}]}]]', '1e400', '-1e400', '"\\ud800"', '"\\u0000"'];
/** A field that is no object rejects them by their type alone, so each field tries one. */
const OBJECTS = [
  '{"$ne":null}',
  '{"$gt":""}',
  '{"$regex":".*"}',
  '{"$where":"sleep(1000)"}',
  '{"$expr":{"$eq":[1,1]}}',
  '{"$function":{"body":"return 1","args":[],"lang":"js"}}',
  '{"toString":1}',
];
/** The gateway rejects them before it looks at fields, so each operation tries them in one. */
const UNREADABLE = [
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"admin":true}}}',
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
];

const TEXTS_REFUSED = ['x'.repeat(20_001), 'a\u0007b', '\ud800'];
/** By kind of field. */
const VALUES: Record<string, string[]> = {
  text: TEXTS_REFUSED,
  line: [...TEXTS_REFUSED, 'a\nb'],
  name: [...TEXTS_REFUSED, 'a\nb', '', ' ', '\n\t\u00a0\u3000'],
  // `hostile/dates` has the others.
  day: ['', 'tomorrow'],
};

const NO_NUMBER = ['" 5"', '"0x10"', '""', 'true', '[1]', '"NaN"'];
/** By the type of the field. A decimal may be a plain string, and hours a string with blanks around it. */
const WRONG_VALUES: Record<string, string[]> = {
  number: ['"12"', ...NO_NUMBER],
  decimal: NO_NUMBER,
  hours: NO_NUMBER.slice(1),
  boolean: ['"true"', '1', '"yes"'],
};

const writes = routeTable.filter(({ body, path }) => body && !path.includes('webhooks') && !path.includes('tools'));

const tried = sampled(writes).map((row, index) => [row.operation, row, index] as const);
test.each(tried)(
  'when a field of %s holds an operator, a value of another type or broken text, then 4xx and nothing is stored',
  async (operation, row, index) => {
    const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    const body = (await bodyFor(gateway, operation, gateway.account)) ?? {};
    const before = await storedCounts();
    for (const [position, [field, { type }]] of Object.entries(fieldsOf(row)).entries()) {
      const values = [
        ...NEVER_A_VALUE,
        ...every(OBJECTS, OBJECTS.length, index + position),
        ...(position === 0 ? UNREADABLE : []),
        ...(WRONG_VALUES[type] ?? ['7', 'true', '[7]']),
        ...(VALUES[type] ?? []).map((value) => JSON.stringify(value)),
      ];
      for (const value of values) {
        const raw = JSON.stringify({ ...body, [field]: 'PLACE' }).replace('"PLACE"', () => value);
        const reply = await gateway.call(row.method.toUpperCase(), filledPath(row.path, id), { raw });
        expectRefusal(reply, `${field}: ${value.slice(0, 60)}`);
      }
    }
    expect(await storedCounts()).toEqual(before);
  },
);

/** One reader takes the queries of all operations, so each parameter tries one. */
const OPERATORS = ['NAME[$ne]=1', 'NAME[]=1', 'NAME[$gt]=', '__proto__[NAME]=1', 'constructor.prototype.NAME=1'];

test.each(sampled(routeTable.filter(({ query }) => query)).map((row, index) => [row.operation, row, index] as const))(
  'when a parameter of %s is repeated, an operator or holds a null character, then 400',
  async (operation, row, index) => {
    const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    const body = await bodyFor(gateway, operation, gateway.account);
    const before = await storedCounts();
    for (const [position, name] of Object.keys(parametersOf(row)).entries()) {
      const operators = every(OPERATORS, OPERATORS.length, index + position);
      for (const form of ['NAME=1&NAME=1', 'NAME=%00', ...operators]) {
        const query = form.replaceAll('NAME', name);
        const path = `${filledPath(row.path, id)}?${query}`;
        expectRefusal(await gateway.call(row.method.toUpperCase(), path, { body }), query);
      }
    }
    expect(await storedCounts()).toEqual(before);
  },
);

describe('text', () => {
  const TEXTS = [
    'Zoë',
    '日本語',
    '👩‍👩‍👧',
    'א‎ב',
    'a\tb',
    '<script>alert(1)</script>',
    "'; DROP TABLE clients;--",
    '#{7*7}',
    '{{7*7}}',
    '%s%n',
    '../../etc/passwd',
    '\\',
    'NULL',
    'e\u0301',
    '$where',
  ];

  test.each(TEXTS)('when a name is %j, then it is returned as it was sent', async (name) => {
    const client = await createClient(gateway, { name });

    expect((await gateway.get(`/api/v1/clients/${client.id}`)).body.data.name).toBe(name);
    const found = await gateway.get(`/api/v1/clients?q=${encodeURIComponent(name)}`);
    // Control characters are not valid in a search text.
    if (!name.includes('\t')) expect(found.body.data.map(({ id }: { id: string }) => id)).toContain(client.id);
  });

  test('when a search text looks like a regular expression, then it matches only itself', async () => {
    await createClient(gateway, { name: 'plain' });
    const odd = await createClient(gateway, { name: 'a.*b(c' });

    for (const [q, count] of [
      ['.*b(', 1],
      ['^plain', 0],
      ['(a+)+$', 0],
      ['[a-z]', 0],
    ] as const) {
      const { body } = await gateway.get(`/api/v1/clients?q=${encodeURIComponent(q)}`);
      expect([q, body.pagination.total]).toEqual([q, count]);
      if (count) expect(body.data[0].id).toBe(odd.id);
    }
  });
});

describe('HTTP', () => {
  test.each([
    ['a compressed body', { raw: Buffer.from([31, 139, 8]), headers: { 'Content-Encoding': 'gzip' } }, 415],
    ['another charset', { raw: '{}', headers: { 'Content-Type': 'application/json; charset=latin1' } }, 415],
    ['a form', { raw: 'name=x', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }, 415],
    ['no content type', { raw: '{}', headers: { 'Content-Type': '' } }, 415],
    ['a body of 300 kilobytes', { raw: JSON.stringify({ name: 'x'.repeat(300_000) }) }, 413],
  ])('when the body is %s, then it is rejected', async (_what, call, status) => {
    const reply = await gateway.call('POST', '/api/v1/clients', call);

    expect([reply.status, Object.keys(reply.body)]).toEqual([status, ['error', 'code', 'params']]);
  });

  test.each([
    '/api/v1/clients/%',
    '/api/v1/clients/%ff',
    '/api/v1//clients',
    '/api/v1/clients//',
    '/API/V1/clients',
    '/api/v1/clients/%2e%2e%2finvoices',
    '/api/v1/constructor',
    '/__proto__',
  ])('when the path is %s, then 4xx in the envelope', async (path) => {
    const reply = await gateway.get(path);

    expectRefusal(reply, path);
  });

  test('when a request is smuggled behind another, then it is not served', async () => {
    const { hostname, port } = new URL(gateway.url);
    const lines = [
      'POST /api/v1/clients HTTP/1.1',
      `Host: ${hostname}`,
      'Content-Length: 4',
      'Transfer-Encoding: chunked',
      '',
      '0',
      '',
      'GET /docs HTTP/1.1',
      'Host: x',
      '',
      '',
    ];
    const response = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(Number(port), hostname, () => socket.write(lines.join('\r\n')));
      socket
        .on('data', (chunk) => (text += String(chunk)))
        .on('error', reject)
        .on('close', () => resolve(text));
      socket.setTimeout(5_000, () => socket.destroy());
    });

    expect(response).toMatch(/^HTTP\/1\.1 400/);
    expect(response).not.toContain('200 OK');
  });
});

test('when a client has a project, then deleting the client is 409 and names what prevents it', async () => {
  const project = await createProject(gateway);
  const reply = await gateway.delete(`/api/v1/clients/${project.client.id}`);

  expect([reply.status, reply.body]).toEqual([
    409,
    expect.objectContaining({ error: 'Cannot delete a client with projects' }),
  ]);
});
