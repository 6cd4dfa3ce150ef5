// The encryption of SMTP: STARTTLS and TLS from the start, a certificate that nothing vouches for, and a login that never leaves in clear text.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { SMTPServerOptions } from 'smtp-server';
import { type Connections, openConnections } from '../../../services/mail/smtp/connections.ts';
import { handOver } from '../../../services/mail/smtp/hand-over.ts';
import { serverOf } from '../../../services/mail/smtp/smtp-url.ts';
import { openSmtpRelay, type Relay } from '../../support/smtp-relay.ts';

const own = getCACertificates('default');
const folder = mkdtempSync(join(tmpdir(), 'billhook-smtp-tls-'));
let certified: { key: Buffer; cert: Buffer };
const relays: Relay[] = [];
const opened: Connections[] = [];

beforeAll(() => {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], { stdio: 'ignore' });
  certified = { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'cert.pem')) };
});
afterEach(async () => {
  for (const connections of opened.splice(0)) connections.close();
  for (const relay of relays.splice(0)) await relay.close();
  setDefaultCACertificates(own);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Trusts the certificate, as NODE_EXTRA_CA_CERTS would. */
const trust = () => setDefaultCACertificates([...own, String(certified.cert)]);

async function relayWith(options: SMTPServerOptions = {}) {
  const relay = await openSmtpRelay({
    ...certified,
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error('Wrong password')),
    ...options,
  });
  relays.push(relay);
  return relay;
}

function send(url: string) {
  const connections = openConnections(serverOf(url), { name: 'test', timeoutMs: 2_000 });
  opened.push(connections);
  const mail = { envelope: { from: 'a@example.com', to: ['b@example.com'] }, bytes: Buffer.from('Subject: x\r\n\r\n') };
  return handOver(connections, mail, async () => true);
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
