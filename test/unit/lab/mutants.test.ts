// The table is up to date: every mutant can still be made, and its oracle is an existing test. `npm run mutants` runs them.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { applied } from '../../../lab/mutants/mutant.ts';
import { mutants } from '../../../lab/mutants/mutants.ts';

test.each(mutants.map((mutant) => [mutant.gone, mutant] as const))(
  'when %s is gone, then the mutant can be made',
  (_gone, mutant) => {
    const sources = new Map<string, string>();
    for (const edit of mutant.edits) {
      const source = sources.get(edit.file) ?? readFileSync(edit.file, 'utf8');
      const changed = applied(source, edit);
      expect(changed).not.toBe(source);
      sources.set(edit.file, changed);
    }
    expect(readFileSync(mutant.oracle.file, 'utf8')).toContain(mutant.oracle.test);
  },
);

test('when a text is missing or occurs twice, then it is an error', () => {
  const edit = { file: 'x.ts', text: 'a', instead: 'b' };
  expect(() => applied('no', edit)).toThrow('x.ts holds 0 times');
  expect(() => applied('aa', edit)).toThrow('x.ts holds 2 times');
});

test('when the table is counted, then it has at least twenty mutants, all different', () => {
  expect(new Set(mutants.map(({ gone }) => gone)).size).toBe(mutants.length);
  expect(mutants.length).toBeGreaterThanOrEqual(20);
});
