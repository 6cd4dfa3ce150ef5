// The webhooks page: it names every type of event, and shows the state machine of a delivery as the services have it.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { EVENT_TYPES } from '#libs/models/webhooks/event-types.ts';
import { WEBHOOKS_PAGE, webhooksPage } from './delivery-states-section.ts';

test('when there is a type of event, then the table of the page lists it, and lists no other', () => {
  const [, rows = ''] = readFileSync(WEBHOOKS_PAGE, 'utf8').split('| Noun | Types | `data` |\n|---|---|---|\n');
  const table = rows.slice(0, rows.indexOf('\n\n')).split('\n');
  const named = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const listed = table.flatMap((row) => {
    const [, nouns, verbs] = row.split('|');
    const all = named(verbs);
    return named(nouns).flatMap((noun) => (all.length > 0 ? all.map((verb) => `${noun}.${verb}`) : [noun]));
  });
  expect(listed.sort()).toEqual([...EVENT_TYPES].sort());
});

test('when the table of moves changes, then its diagram does, or "npm run docs" was forgotten', () => {
  expect(readFileSync(WEBHOOKS_PAGE, 'utf8')).toBe(webhooksPage());
});

test('when the diagram is made, then it has every kind of arrow', () => {
  const page = webhooksPage();
  const arrows = ['[*] --> pending', 'pending --> pending', 'pending --> held', 'held --> pending', 'dead --> pending'];
  for (const arrow of arrows) expect(page).toContain(`  ${arrow}: `);
});

test('when the page has lost its marks, then it is an error', () => {
  expect(() => webhooksPage('# Webhooks')).toThrow('has no section');
});
