// The table of event types in docs/webhooks.md names exactly the types that exist.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { EVENT_TYPES } from '#libs/models/webhooks/event-types.ts';

const PAGE = 'docs/webhooks.md';

/** A row is `| nouns | types | data |`, each name in backticks. */
function documentedTypes(): string[] {
  const table = readFileSync(PAGE, 'utf8').split('\n| Noun | Types | `data` |\n')[1]?.split('\n\n')[0] ?? '';
  const rows = [...table.matchAll(/^\| (`[^|]*) \|([^|]*)\|/gm)];
  const names = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name as string);
  return rows.flatMap(([, nouns, types]) =>
    names(nouns).flatMap((noun) => (names(types).length > 0 ? names(types).map((type) => `${noun}.${type}`) : [noun])),
  );
}

test('when the page is compared with the types, then each type has a place in its table and no other has', () => {
  const documented = documentedTypes();
  const missing = EVENT_TYPES.filter((type) => !documented.includes(type));
  const unknown = documented.filter((type) => !(EVENT_TYPES as readonly string[]).includes(type));

  expect(missing.map((type) => `${PAGE}, table of types: add ${type} to the row of its noun`)).toEqual([]);
  expect(
    unknown.map((type) => `${PAGE}, table of types: ${type} is no type of libs/models/webhooks/event-types.ts`),
  ).toEqual([]);
});
