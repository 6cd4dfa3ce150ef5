// Hostile input: rejected with the error envelope, never a 500, and nothing is stored.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampled } from '../../support/form.ts';
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
const NEVER_A_VALUE = [
  '{"$ne":null}',
  '{"$gt":""}',
  '{"$regex":".*"}',
  '{"$where":"sleep(1000)"}',
  '{"$expr":{"$eq":[1,1]}}',
  '{"$function":{"body":"return 1","args":[],"lang":"js"}}',
  '[[{"$nor":[{}]}]]',
  '{"__proto__":{"admin":true}}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"toString":1}',
  '1e400',
  '-1e400',
  '"\\ud800"',
  '"\\u0000"',
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
];

const TEXTS_REFUSED = ['x'.repeat(20_001), 'a\u0007b', '\ud800'];
/** By kind of field. */
const VALUES: Record<string, string[]> = {
  text: TEXTS_REFUSED,
  line: [...TEXTS_REFUSED, 'a\nb'],
  name: [...TEXTS_REFUSED, 'a\nb', '', ' ', '\n\t\u00a0\u3000'],
  day: [
    '2026-02-29',
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '0000-01-01',
    '26-01-01',
    '2026-1-1',
    '2026-W01-1',
    '12026-01-01',
    '2026-01-01T00:00:00Z',
    ' 2026-01-01',
    '٢٠٢٦-٠١-٠١',
    'tomorrow',
    '',
  ],
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

describe.each(sampled(writes).map((row) => [row.operation, row] as const))('%s', (operation, row) => {
  const setUp = async () => {
    const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
    const body = (await bodyFor(gateway, operation, gateway.account)) ?? {};
    const send = (raw: string) => gateway.call(row.method.toUpperCase(), filledPath(row.path, id), { raw });
    return { body, send };
  };

  test('when a field holds an operator, an object, an infinite number or broken text, then 4xx and nothing is stored', async () => {
    const { body, send } = await setUp();
    const before = await storedCounts();
    for (const [field] of Object.entries(fieldsOf(row))) {
      for (const value of NEVER_A_VALUE) {
        const raw = JSON.stringify({ ...body, [field]: 'PLACE' }).replace('"PLACE"', value);
        expectRefusal(await send(raw), `${field}: ${value.slice(0, 60)}`);
      }
    }
    expect(await storedCounts()).toEqual(before);
  });

  test('when a number is sent as text, or text as a number, then 400', async () => {
    const { body, send } = await setUp();
    const before = await storedCounts();
    for (const [field, { type }] of Object.entries(fieldsOf(row))) {
      for (const value of WRONG_VALUES[type] ?? ['7', 'true', '[7]']) {
        const raw = JSON.stringify({ ...body, [field]: 'PLACE' }).replace('"PLACE"', value);
        expectRefusal(await send(raw), `${field}: ${value}`);
      }
    }
    expect(await storedCounts()).toEqual(before);
  });

  test('when a day does not exist or a text is too long, then 400', async () => {
    const { body, send } = await setUp();
    for (const [field, { type }] of Object.entries(fieldsOf(row))) {
      const values = VALUES[type] ?? [];
      for (const value of values)
        expectRefusal(await send(JSON.stringify({ ...body, [field]: value })), `${field}: ${value.slice(0, 40)}`);
    }
  });

  test('when the body is not an object, then 4xx', async () => {
    const { send } = await setUp();
    const before = await storedCounts();
    for (const raw of [
      '[]',
      '"text"',
      '7',
      'true',
      '[{}]',
      '{',
      '{"a":1}x',
      "{'a':1}",
      '{"a":NaN}',
      '{"a":1,}',
      '// c\n{}',
      '{"a":1}\u0000',
    ]) {
      expectRefusal(await send(raw), raw);
    }
    expect(await storedCounts()).toEqual(before);
  });

  test('when a body names fields that the caller cannot set, then they change nothing', async () => {
    const { body, send } = await setUp();
    const extra = {
      account_id: 'x',
      id: 'x',
      _id: 'x',
      number: 99,
      quote_number: 'QUO-0099',
      invoice_number: 'INV-0099',
      created_at: '2000-01-01',
      total_seconds: 99,
      amount_paid: 99,
      __v: 1,
      revoked_at: null,
      key: 'x',
      client: { name: 'x' },
      $set: { status: 'Paid' },
    };
    const reply = await send(JSON.stringify({ ...extra, ...body }));
    expect(reply.status).toBeLessThan(300);
    const { data } = reply.body;
    for (const name of ['id', 'quote_number', 'invoice_number', 'created_at', 'total_seconds', 'amount_paid', 'key']) {
      if (name in data) expect(data[name]).not.toBe((extra as Record<string, unknown>)[name]);
    }
  });
});

describe.each(sampled(routeTable.filter(({ query }) => query)).map((row) => [row.operation, row] as const))(
  'the query of %s',
  (operation, row) => {
    test('when a parameter is repeated, an operator or invalid, then 400', async () => {
      const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
      const body = await bodyFor(gateway, operation, gateway.account);
      const before = await storedCounts();
      for (const name of Object.keys(parametersOf(row))) {
        const queries = [
          `${name}=1&${name}=1`,
          `${name}[$ne]=1`,
          `${name}[]=1`,
          `${name}[$gt]=`,
          `${name}=%00`,
          `__proto__[${name}]=1`,
          `constructor.prototype.${name}=1`,
        ];
        for (const query of queries) {
          const reply = await gateway.call(row.method.toUpperCase(), `${filledPath(row.path, id)}?${query}`, {
            body,
          });
          expectRefusal(reply, query);
        }
      }
      expect(await storedCounts()).toEqual(before);
    });

    test('when an integer is not written in plain digits, then 400', async () => {
      const id = row.path.includes('{id}') ? await make(gateway, kindOf(row.path), gateway.account, 'own-') : '';
      for (const name of ['limit', 'offset'].filter((parameter) => parameter in parametersOf(row))) {
        for (const value of [
          '-1',
          '1.5',
          '1e2',
          '0x10',
          '%205',
          '5%20',
          '+5',
          '',
          'x',
          'NaN',
          'Infinity',
          '٣',
          '9'.repeat(30),
        ]) {
          const reply = await gateway.get(`${filledPath(row.path, id)}?${name}=${value}`);
          expect([name, value, reply.status]).toEqual([name, value, 400]);
        }
      }
    });
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
