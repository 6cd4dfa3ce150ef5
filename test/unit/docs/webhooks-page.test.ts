// The webhooks page shows the state machine of a delivery as the services have it.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { WEBHOOKS_PAGE, webhooksPage } from './delivery-states-section.ts';

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
