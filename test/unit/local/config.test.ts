// The variables of `npm start`: what is wrong is named before anything is started.
import { expect, test } from '@jest/globals';
import { readConfig } from '../../../deploy/local/config.ts';

test('when variables that the services check are wrong beside those of npm start, then all are named at once', () => {
  const wrong = {
    REDIS_PREFIX: 'a b',
    PORTAL_URL: 'http://x/y',
    OUTBOUND_ALLOW: 'home',
    SMTP_URL: 'foo',
    MAIL_FROM: 'bar',
  };

  expect(() => readConfig([], wrong)).toThrow(
    [
      'The configuration is not usable:',
      'REDIS_PREFIX must have 1 to 40 letters, digits, dashes or underscores',
      'PORTAL_URL must have no path',
      'OUTBOUND_ALLOW holds home, which is not a CIDR such as 10.0.0.0/8',
      'SMTP_URL must be smtp://USER:PASSWORD@HOST:PORT or smtps://…',
      'MAIL_FROM must be an address, or NAME <ADDRESS>',
    ].join('\n  - '),
  );
});
