// Bodies are bounded before they are parsed, and names that a shape does not have are removed.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import Joi from 'joi';
import { hasLongerValueThan, hasMoreValuesThan } from '../../../services/gateway/http/count-values.ts';
import { knownNames } from '../../../services/gateway/http/known-names.ts';
import { runs } from '../../support/form.ts';

test('when any JSON is counted, then the count of its names and commas is right, whatever its strings contain', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.boolean(), (value, isIndented) => {
      const { names, commas } = countOf(value);
      const bytes = Buffer.from(JSON.stringify(value, null, isIndented ? 2 : 0));
      const most = Math.max(names, commas);

      expect(hasMoreValuesThan(bytes, most)).toBe(false);
      if (most > 0) expect(hasMoreValuesThan(bytes, most - 1)).toBe(true);
    }),
    runs(1_000),
  );
});

test.each([
  ['separators in strings', JSON.stringify({ a: ','.repeat(100) + ':'.repeat(100) }), 1],
  ['escaped quotes', JSON.stringify({ a: '",":"\\",:\\\\"' }), 1],
  ['a string that never ends', `{"a":1,"b":"${','.repeat(100)}`, 2],
  ['bytes that are no JSON', ',,,::', 3],
])('when a text has %s, then only what stands outside of strings counts', (_what, text, most) => {
  expect(hasMoreValuesThan(Buffer.from(text), most)).toBe(false);
  expect(hasMoreValuesThan(Buffer.from(text), most - 1)).toBe(true);
});

test.each([
  ['a long string', JSON.stringify({ a: 'x'.repeat(101) }), true],
  ['a long string of escaped quotes', JSON.stringify({ a: '"'.repeat(60) }), true],
  ['a string that never ends', `{"a":"${'\\"'.repeat(60)}`, true],
  ['a long number', `{"a":1.${'0'.repeat(101)}}`, true],
  ['an image', JSON.stringify({ a: `data:image/png;base64,${'A'.repeat(200)}`, b: 'x' }), false],
  [
    'a long string that begins as an image does',
    JSON.stringify({ a: `data:image/png;base64,${'"'.repeat(200)}` }),
    true,
  ],
  ['many short values', JSON.stringify(Array.from({ length: 100 }, () => 'x'.repeat(50))), false],
])('when a body has %s, then a value is too long: %3$s', (_what, text, isLonger) => {
  expect(hasLongerValueThan(Buffer.from(text), 100)).toBe(isLonger);
});

test('when a body has unknown names at any level, then they are gone and everything known is there', () => {
  const line = Joi.object({ description: Joi.string(), qty: Joi.alternatives().try(Joi.number(), Joi.string()) });
  const read = knownNames(Joi.object({ name: Joi.string(), lines: Joi.array().items(line), free: Joi.object() }));
  const prune = (value: unknown) => read(value).value;
  const known = { name: 'a', lines: [{ description: 'b', qty: '1' }, 7, null], free: { any: { name: 1 } } };

  expect(prune({ ...known, other: 1, lines: [{ description: 'b', qty: '1', x: { y: 1 } }, 7, null] })).toEqual(known);
  for (const value of [null, undefined, 'text', 3, [1]]) expect(prune(value)).toEqual(value);
});

test('when a name exists on the prototype only, then it is no name of the body', () => {
  const read = knownNames(Joi.object({ toString: Joi.any(), name: Joi.any() }));

  expect(Object.keys(read({ name: 1 }).value as object)).toEqual(['name']);
});

function countOf(value: unknown): { names: number; commas: number } {
  if (value === null || typeof value !== 'object') return { names: 0, commas: 0 };
  const parts = Object.values(value).map(countOf);
  const size = parts.length;
  return {
    names: (Array.isArray(value) ? 0 : size) + parts.reduce((sum, { names }) => sum + names, 0),
    commas: Math.max(0, size - 1) + parts.reduce((sum, { commas }) => sum + commas, 0),
  };
}
