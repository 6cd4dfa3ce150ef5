// SMTP_URL and MAIL_FROM: the accepted forms, what they mean, and problems that never repeat a password.
import { expect, test } from '@jest/globals';
import { ConfigError } from '#libs/service/config-error.ts';
import { readConfig } from '../../../services/mail/config.ts';
import { readSender, returnPathOf } from '../../../services/mail/sender.ts';
import { readSmtpUrl } from '../../../services/mail/smtp/smtp-url.ts';

test.each([
  ['smtp://relay', { host: 'relay', port: 587, tls: 'offered', login: undefined }],
  ['smtp://relay:25', { host: 'relay', port: 25, tls: 'offered', login: undefined }],
  ['smtp://ada:p%40ss@relay/', { host: 'relay', port: 587, tls: 'required', login: { user: 'ada', pass: 'p@ss' } }],
  ['smtp://ada:pass@127.0.0.1:2525', { port: 2525, tls: 'offered', login: { user: 'ada', pass: 'pass' } }],
  ['smtp://ada:pass@relay?tls=offered', { tls: 'offered' }],
  ['smtp://relay?tls=required', { tls: 'required' }],
  [
    'smtps://ada%40example.com:pass@relay',
    { port: 465, tls: 'from the start', login: { user: 'ada@example.com', pass: 'pass' } },
  ],
  ['smtp://[::1]:2525', { host: '::1', port: 2525, tls: 'offered' }],
])('when SMTP_URL is %s, then it means this server', (text, server) => {
  expect(readSmtpUrl(text)).toMatchObject({ server });
});

test.each([
  'relay',
  'http://secret@relay',
  'smtp://',
  'smtp://user:secret@relay/path',
  'smtp://user:secret@relay:99999',
  'smtp://user:secret@relay:0',
  'smtp://user:secret@relay?rejectUnauthorized=false',
  'smtp://user:secret@relay?tls=never',
  'smtp://user:sec%ret@relay',
])('when SMTP_URL is %s, then it is rejected in words that leave the password out', (text) => {
  const { problem } = readSmtpUrl(text);

  expect(problem).toMatch(/^(must|has) /);
  expect(problem).not.toMatch(/sec/);
});

test.each([
  ['billing@example.com', 'billing@example.com', 'example.com'],
  ['Studio North <billing@mail.example.com>', 'billing@mail.example.com', 'mail.example.com'],
])('when MAIL_FROM is %s, then the sender is known', (text, address, domain) => {
  expect(readSender(text)).toEqual({ address, domain });
});

test.each([
  '',
  'billing',
  'a@b@c',
  'Studio <billing@example.com',
  'a@example.com, b@example.com',
  'A\r\nBcc: x <a@example.com>',
])('when MAIL_FROM is %j, then it is rejected', (text) => {
  expect(readSender(text)).toBeUndefined();
});

test('when there is a domain for bounces, then each message has a return path of its own', () => {
  const sender = { address: 'billing@example.com', domain: 'example.com' };

  expect(returnPathOf('0190-7', sender, 'bounces.example.com')).toBe('bounce+0190-7@bounces.example.com');
  expect(returnPathOf('0190-7', sender, undefined)).toBe('billing@example.com');
});

test('when the server is named and the sender is not, then the configuration is rejected', () => {
  const SECRET_KEY = Buffer.alloc(32).toString('base64');
  const env = { MONGODB_URI: 'mongodb://x/', REDIS_URL: 'redis://x/', SECRET_KEY, SMTP_URL: 'smtp://relay' };

  expect(() => readConfig(env)).toThrow(new ConfigError(['SMTP_URL needs MAIL_FROM, the sender of all mail']));
  expect(readConfig({ ...env, SMTP_URL: '' })).toMatchObject({ MAIL_TIMEOUT_MS: 300_000 });
  expect(readConfig({ ...env, MAIL_FROM: 'a@example.com' }).SMTP_URL).toBe('smtp://relay');
});
