// No rule without a test, and no test of a rule that does not exist.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { rules } from '../../support/contract/rules.ts';

const sources = globSync(['test/service/contract/*.test.ts', 'test/journeys/contract.test.ts']).map((file) =>
  readFileSync(file, 'utf8'),
);

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
