// No rule without a test, and no test of a rule that does not exist.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { rules } from './rules.ts';

const sources = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.ts') && name !== 'rules.test.ts')
  .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'));

test('when the rules are listed, then every one of them is named by a test', () => {
  const named = new Set(sources.flatMap(idsIn));

  expect(rules.map(({ id }) => id).filter((id) => !named.has(id))).toEqual([]);
});

test('when the rules are listed, then no id appears twice', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
});

function idsIn(source: string): string[] {
  return [...source.matchAll(/\bproves\(\s*'([^']+)'/g)].flatMap(([, ids]) => (ids as string).split(' '));
}
