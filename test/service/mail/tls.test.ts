// The encryption of SMTP: STARTTLS and TLS from the start, a certificate that nothing vouches for, and a login that never leaves in clear text.
import { afterEach, expect, test } from '@jest/globals';
import type { SMTPServerOptions } from 'smtp-server';
import { holdMail } from '../../../services/mail/held-mail.ts';
import { type Connections, openConnections } from '../../../services/mail/smtp/connections.ts';
import { handOver } from '../../../services/mail/smtp/hand-over.ts';
import { serverOf } from '../../../services/mail/smtp/smtp-url.ts';
import { certifyLocalhost } from '../../support/certificate.ts';
import { openSmtpRelay, type Relay } from '../../support/smtp-relay.ts';

const certified = certifyLocalhost();
const { trust } = certified;
const relays: Relay[] = [];
const opened: Connections[] = [];

afterEach(async () => {
  for (const connections of opened.splice(0)) connections.close();
  for (const relay of relays.splice(0)) await relay.close();
  certified.distrust();
});

async function relayWith(options: SMTPServerOptions = {}) {
  const relay = await openSmtpRelay({
    key: certified.key,
    cert: certified.cert,
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error('Wrong password')),
    ...options,
  });
  relays.push(relay);
  return relay;
}

async function send(url: string) {
  const connections = openConnections(serverOf(url), { name: 'test', timeoutMs: 30_000 });
  opened.push(connections);
  const envelope = { from: 'a@example.com', to: ['b@example.com'] };
  const contents = await holdMail([Buffer.from('Subject: x\r\n\r\n')]);
  return handOver(connections, { envelope, contents }, async () => true);
}

test('when the server offers STARTTLS, then the login and the mail are encrypted', async () => {
  trust();
  const relay = await relayWith();

  expect(await send(`smtp://ada:p%40ss@localhost:${relay.port}`)).toMatchObject({ outcome: 'taken' });
  expect(relay.taken).toMatchObject([{ isSecure: true, user: 'ada' }]);
});

test('when the server speaks TLS from the start, then the mail is taken', async () => {
  trust();
  const relay = await relayWith({ secure: true });

  expect(await send(`smtps://ada:p%40ss@localhost:${relay.port}`)).toMatchObject({ outcome: 'taken' });
  expect(relay.taken).toMatchObject([{ isSecure: true, user: 'ada' }]);
});

test.each(['smtp://localhost', 'smtps://localhost'])(
  'when nothing vouches for the certificate of %s, then nothing leaves, and the mail is tried again later',
  async (url) => {
    const relay = await relayWith({ secure: url.startsWith('smtps') });

    const result = await send(`${url}:${relay.port}`);

    expect(result).toMatchObject({ outcome: 'unreachable', reply: { text: expect.stringMatching(/certificate/) } });
    expect(relay.named).toEqual([]);
  },
);

test('when STARTTLS is needed and the server does not offer it, then neither the login nor the mail leaves', async () => {
  const relay = await relayWith({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true });

  const result = await send(`smtp://ada:p%40ss@localhost:${relay.port}?tls=required`);

  expect(result).toMatchObject({ outcome: 'unreachable' });
  expect(relay.taken).toEqual([]);
});

test('when the login is refused, then the mail is tried again later: the operator can repair it', async () => {
  trust();
  const relay = await relayWith();

  const result = await send(`smtp://ada:wrong@localhost:${relay.port}`);

  expect(result).toMatchObject({
    outcome: 'unreachable',
    reply: { code: expect.stringMatching(/^535/), isPermanent: false },
  });
  expect(JSON.stringify(result)).not.toContain('wrong');
});
