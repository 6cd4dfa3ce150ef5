// A test that names the rules of the specification it proves.
import { test } from '@jest/globals';
import { rules } from './rules.ts';

const known = new Set(rules.map(({ id }) => id));

/** @param ids of rules.ts, separated by spaces. */
export function proves(ids: string, name: string, check: () => Promise<void> | void): void {
  for (const id of ids.split(' ')) {
    if (!known.has(id)) throw new Error(`no rule is called ${id}`);
  }
  test(`${name} [${ids}]`, async () => check());
}
