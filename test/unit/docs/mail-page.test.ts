// The page about mail shows the state machine of a message as the services have it.
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { MAIL_PAGE, mailPage } from './message-states-section.ts';

test('when the table of moves changes, then its diagram does, or "npm run docs" was forgotten', () => {
  expect(readFileSync(MAIL_PAGE, 'utf8')).toBe(mailPage());
});

test('when the diagram is made, then it has every kind of arrow', () => {
  const page = mailPage();
  for (const arrow of ['[*] --> planned', 'queued --> sending', 'sending --> unknown', 'unknown --> sending'])
    expect(page).toContain(`  ${arrow}: `);
});
