// Invalid JSON bodies, on every operation that takes a body.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { count, every, isFull, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { storedCounts } from '../../support/stored.ts';
import { senderOf, writes } from './json-fields.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
const utf16be = (text: string) => Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, 'utf16le').swap16()]);
const deep = (open: string, inside: string, close: string, depth: number) =>
  open.repeat(depth) + inside + close.repeat(depth);

/** No operation accepts any of them. */
const BROKEN: (string | Buffer)[] = [
  // Not JSON at all.
  '{',
  '}',
  '[',
  ']',
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":1,',
  '{"a":1,}',
  '{,}',
  '{"a"}',
  '{"a" 1}',
  '{1:1}',
  '{a:1}',
  "{'a':1}",
  '{"a":\'b\'}',
  '{"a":1}x',
  '{"a":1}{"b":2}',
  '{"a":1}\u0000',
  '\u0000{"a":1}',
  '{"a":1}\n//',
  '// c\n{}',
  '/* c */{}',
  '{"a":/* c */1}',
  '# c\n{}',
  '{"a":NaN}',
  '{"a":Infinity}',
  '{"a":-Infinity}',
  '{"a":undefined}',
  '{"a":+1}',
  '{"a":.5}',
  '{"a":1.}',
  '{"a":01}',
  '{"a":0x1}',
  '{"a":1e}',
  '{"a":1e+}',
  '{"a":--1}',
  '{"a":1_000}',
  '{"a":1n}',
  '{"a":TRUE}',
  '{"a":True}',
  '{"a":nul}',
  '{"a":None}',
  '{"a":"b}',
  '{"a":"\n"}',
  '{"a":"\t"}',
  '{"a":"\\x41"}',
  '{"a":"\\u12"}',
  '{"a":"\\uZZZZ"}',
  '{"a":"\\"}',
  '{"a":[1,2}',
  '{"a":{1,2]}',
  '{"a":[1,]}',
  '{"a":[,1]}',
  '{"a":[1 2]}',
  '{"a"=1}',
  '{"a";1}',
  '<a>1</a>',
  'a=1&b=2',
  '--x\r\n',
  'a: 1',
  '\u00a0{}',
  '\u2028{}',
  '{}\u00a0',
  '\ufeff\ufeff{}',
  'null null',
  'NaN',
  'undefined',
  'Infinity',
  '0x10',
  "'a'",
  '`a`',
  '=1',
  '@a',
  '(1)',
  '{"a":1}]',
  '[]]',
  '""""',
  '"a" "b"',
  'tru',
  '-',
  '.',
  ',',
  ':',
  '\\',
  '"',
  '"\\',
  '[[[',
  '{{{',
  '{"":',
  '{"a":"\u0001"}',
  '﻿',
  // JSON in an encoding that is not UTF-8.
  utf16('{"name":"x"}'),
  utf16be('{"name":"x"}'),
  Buffer.from([0xff]),
  Buffer.from([0x80, 0x80]),
  Buffer.from([0xc0, 0xaf]),
  Buffer.from([31, 139, 8, 0]),
  Buffer.from([0x00, 0x00, 0xfe, 0xff]),
  Buffer.alloc(64),
  Buffer.from('{"a":1}', 'utf16le'),
  // JSON, and no object.
  '[]',
  '[{}]',
  '[[]]',
  '""',
  '"text"',
  '0',
  '-0',
  '7',
  '1e400',
  'true',
  'false',
  '[null]',
  '[1,2,3]',
  '"{}"',
  // Objects and lists that are made to break a parser.
  '{"__proto__":{"admin":true}}',
  '{"__proto__":null}',
  '{"constructor":{"prototype":{"admin":true}}}',
  '{"prototype":{}}',
  '{"\\u005f_proto__":{"admin":true}}',
  '{"a":{"__proto__":1}}',
  '{"a":[{"constructor":1}]}',
  '{"a":{"b":{"c":{"prototype":1}}}}',
  deep('[', '', ']', 100_000),
  deep('{"a":', '1', '}', 40_000),
  deep('[', '1', ']', 33),
  `{"a":${deep('[', '', ']', 33)}}`,
  `{"a":${deep('{"b":', '1', '}', 33)}}`,
  deep('[', '', '', 100_000),
  deep('{"a":', '', '', 40_000),
  `{"a":${'['.repeat(1_000)}`,
];
const TOO_LARGE = [
  `{"a":"${'x'.repeat(10_000_000)}"}`,
  `[${'1,'.repeat(2_000_000)}1]`,
  `{"a":${'9'.repeat(4_000_000)}}`,
  ' '.repeat(10_000_000),
];
/** Each operation tries one of this many. */
const STEP = isFull ? 1 : 10;

test('when the corpus is counted, then it has at least 120 distinct bodies', () => {
  const all = [...BROKEN, ...TOO_LARGE].map(String);
  expect(new Set(all).size).toBeGreaterThanOrEqual(120);
});

describe.each(sampled(writes).map((row, index) => [row.operation, row, index] as const))(
  '%s',
  (_operation, row, index) => {
    test('when a body is not one object of plain fields, then 4xx and nothing is stored', async () => {
      const { send } = await senderOf(gateway, row);
      const before = await storedCounts();
      const bodies = every(BROKEN, STEP, index);
      for (const raw of bodies) {
        // Where every field is optional, an empty object is valid: the corpus has none.
        expectRefusal(await send(raw), String(raw).slice(0, 60));
      }
      expect(await storedCounts()).toEqual(before);
      count('JSON bodies', bodies.length);
    });

    test('when a body is larger than its limit, then 413 and nothing is stored', async () => {
      const { send } = await senderOf(gateway, row);
      const before = await storedCounts();
      const bodies = every(TOO_LARGE, isFull ? 1 : 8, index);
      for (const raw of bodies) expect((await send(raw)).status).toBe(413);
      expect(await storedCounts()).toEqual(before);
      count('JSON bodies', bodies.length);
    });
  },
);

test('when a body repeats a name, begins with a byte order mark or is surrounded by blanks, then it is read as by any JSON parser', async () => {
  const { send } = await senderOf(gateway, writes.find(({ operation }) => operation === 'addClient') as never);
  const right = '{"name":"x","email":"x@example.com"}';
  for (const [raw, name] of [
    ['{"name":"first","name":"last","email":"x@example.com"}', 'last'],
    [`\ufeff${right}`, 'x'],
    [` \t\r\n${right}\n `, 'x'],
    ['{"name":"\\ud83d\\ude00","email":"x@example.com"}', '😀'],
    ['{"name":"x","email":"x@example.com","unknown":{"a":[1]},"":1}', 'x'],
    [
      `{"name":"x","email":"x@example.com",${Array.from({ length: 5_000 }, (_, index) => `"f${index}":1`).join()}}`,
      'x',
    ],
  ] as const) {
    const reply = await send(raw);
    expect([raw.slice(0, 60), reply.status, reply.body.data?.name]).toEqual([raw.slice(0, 60), 201, name]);
    count('JSON bodies', 1);
  }
});
