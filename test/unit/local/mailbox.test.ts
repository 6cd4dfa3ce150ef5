// The mailbox of `npm start`: it takes mail over SMTP, and shows it without running anything that is in it.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clearLockedPorts } from 'get-port';
import { openKeptMails } from '../../../deploy/local/mailbox/kept-mails.ts';
import { type Mailbox, startMailbox } from '../../../deploy/local/mailbox/mailbox.ts';
import { holdMail } from '../../../services/mail/held-mail.ts';
import { openConnections } from '../../../services/mail/smtp/connections.ts';
import { handOver } from '../../../services/mail/smtp/hand-over.ts';
import { serverOf } from '../../../services/mail/smtp/smtp-url.ts';

const HOSTILE = [
  'From: =?utf-8?q?=3Cb=3EEve=3C/b=3E?= <eve@example.com>',
  'To: ada@example.com',
  'Subject: <script>alert(1)</script>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=x',
  '',
  '--x',
  'Content-Type: text/html',
  '',
  '<head><title>T</title></head><script>alert(2)</script><a href="https://pay.example.com/">Pay</a>',
  '--x',
  'Content-Type: text/html',
  'Content-Disposition: attachment; filename="../../evil.html"',
  '',
  '<script>alert(3)</script>',
  '--x--',
  '',
].join('\r\n');

let folder: string;
let mailbox: Mailbox;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'billhook-mailbox-'));
  mailbox = await startMailbox(folder);
});
afterAll(async () => {
  await mailbox.close();
  await rm(folder, { recursive: true });
});

async function send(bytes: Buffer) {
  const connections = openConnections(serverOf(mailbox.smtpUrl), { name: 'test', timeoutMs: 5_000 });
  const envelope = { from: 'eve@example.com', to: ['ada@example.com'] };
  const contents = await holdMail([bytes]);
  const result = await handOver(connections, { envelope, contents }, async () => true);
  connections.close();
  return result;
}

const listed = async () =>
  (await (await fetch(`${mailbox.url}mails.json`)).json()) as { id: string; subject: string }[];

test('when a mail arrives, then it is listed, and its page shows what it has as text and in a frame without scripts', async () => {
  expect(await (await fetch(mailbox.url)).text()).toContain('No mail yet');
  expect(await send(Buffer.from(HOSTILE))).toMatchObject({ outcome: 'taken' });

  const [first] = await listed();
  expect(first).toMatchObject({ subject: '<script>alert(1)</script>', to: 'ada@example.com' });
  const url = `${mailbox.url}mails/${first?.id}/`;
  const page = await fetch(url);
  const text = await page.text();
  expect(text).toContain('&lt;script>alert(1)&lt;/script>');
  expect(text).not.toContain('<script');
  expect(text).toMatch(/<iframe [^>]*sandbox="allow-popups allow-popups-to-escape-sandbox"/);
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'self'; frame-src 'self'/,
  );
  const framed = await fetch(`${url}html`);
  expect(framed.headers.get('content-security-policy')).toMatch(/default-src 'none'.*; sandbox allow-popups/);
  expect(framed.headers.get('content-security-policy')).not.toMatch(/script/);
  expect(await framed.text()).toContain('<base target="_blank">');
  const file = await fetch(`${url}attachments/0/evil.html`);
  expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename\*=UTF-8''[^/]+$/);
  expect(file.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
  expect(await (await fetch(`${url}source`)).text()).toBe(HOSTILE);
});

test.each(['mails/1/', 'mails/../../etc/passwd/', 'mails/..%2f..%2fmailbox.json/source', 'nothing'])(
  'when %s is asked for, then there is no such mail',
  async (path) => {
    expect((await fetch(`${mailbox.url}${path}`)).status).toBe(404);
  },
);

test('when the token is missing or wrong, or the name is a foreign one, then nothing is shown', async () => {
  const { origin } = new URL(mailbox.url);

  expect((await fetch(`${origin}/`)).status).toBe(404);
  expect((await fetch(`${origin}/${'x'.repeat(32)}/mails.json`)).status).toBe(404);
  expect((await fetch(mailbox.url, { method: 'POST' })).status).toBe(404);
});

test('when it starts again, then the pages have their address, and the mails are still there', async () => {
  const { url } = mailbox;
  const before = await listed();
  await mailbox.close();
  clearLockedPorts(); // Another process starts the next time.

  mailbox = await startMailbox(folder);

  expect(mailbox.url).toBe(url);
  expect(await listed()).toEqual(before);
});

test('when more than a hundred mails arrive, then the oldest make room', async () => {
  const other = join(folder, 'other');
  const mails = await openKeptMails(other);
  for (let index = 0; index < 103; index += 1) await mails.keep(Buffer.from(`Subject: ${index}\r\n\r\n`));

  expect(mails.ids()).toHaveLength(100);
  expect(await readdir(other)).toHaveLength(100);
  expect(String(await mails.read(mails.ids()[0] as string))).toContain('Subject: 102');
});
