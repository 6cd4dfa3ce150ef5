// A mail as it is sent, read by another program: headers that no text can break, both forms of the text, and the attachment.
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import type { MessageRecord } from '#libs/models/messages/message.ts';
import { newId } from '#libs/models/tenant.ts';
import { composeMail, type Letter } from '../../../services/mail/compose-mail.ts';
import { messageOf } from '../../support/messages.ts';

const letter: Letter = {
  from: 'billing@example.com',
  fromName: 'Studio North',
  subject: 'Invoice INV-0042',
  text: 'Hello Ada,\n\nit is attached.',
  html: '<p>Hello <strong>Ada</strong>, it is attached.</p>',
  date: new Date('2026-01-31T12:00:00Z'),
};
const recipients: MessageRecord['recipients'] = [
  { address: 'ada@example.com', role: 'to', state: 'queued' },
  { address: 'books@example.com', role: 'cc', state: 'queued' },
  { address: 'secret@example.com', role: 'bcc', state: 'queued' },
];

async function composed(fields: Partial<MessageRecord> = {}, changes: Partial<Letter> = {}) {
  const message = messageOf(newId(), { recipients, ...fields });
  const source = await buffer(composeMail(message, { ...letter, ...changes }));
  return { message, text: source.toString('utf8'), mail: await simpleParser(source) };
}

test('when a mail is composed, then another program reads all of it, and no blind copy', async () => {
  const pdf = Buffer.from('%PDF-1.7 …');
  const { message, mail, text } = await composed(
    { locale: 'de-DE' },
    {
      fromName: 'Ström & Söhne, GmbH',
      replyTo: 'hello@north.example',
      attachments: [{ name: 'Räkning 7.pdf', type: 'application/pdf', bytes: pdf }],
    },
  );

  expect(mail).toMatchObject({
    from: { value: [{ name: 'Ström & Söhne, GmbH', address: 'billing@example.com' }] },
    to: { value: [{ address: 'ada@example.com' }] },
    cc: { value: [{ address: 'books@example.com' }] },
    replyTo: { value: [{ address: 'hello@north.example' }] },
    subject: 'Invoice INV-0042',
    messageId: message.message_id,
    date: letter.date,
    attachments: [{ filename: 'Räkning 7.pdf', contentType: 'application/pdf', content: pdf }],
  });
  expect(mail.text?.trim()).toBe(letter.text);
  expect(mail.html).toContain('Hello <strong>Ada</strong>');
  expect(text).not.toContain('secret@example.com');
  expect(mail.headers.has('auto-submitted')).toBe(false);
});

test('when it is a receipt, then mail programs send no reply of an absence', async () => {
  const { mail } = await composed({ kind: 'receipt' });

  expect(mail.headers.get('auto-submitted')).toBe('auto-generated');
});

test.each([
  ['subject', { subject: 'Hello\r\nBcc: evil@example.com\r\n\r\nInjected' }],
  ['name of the sender', { fromName: 'North\r\nBcc: evil@example.com' }],
  ['name with quotes', { fromName: '" <evil@example.com>, "' }],
])('when the %s tries to add a header, then it stays text', async (_field, changes) => {
  const { mail, text } = await composed({}, changes);

  expect(text).not.toMatch(/^(Bcc|Injected)/m);
  expect(mail.from?.value).toHaveLength(1);
  expect(mail.from?.value[0]?.address).toBe('billing@example.com');
  expect(mail.headers.has('bcc')).toBe(false);
});

test.each(['ada@example.com\r\nBcc: evil@example.com', 'ada@example.com>, <evil@example.com', 'ada @example.com'])(
  'when an address is %j, then no mail is composed',
  async (address) => {
    await expect(composed({ recipients: [{ address, role: 'to', state: 'queued' }] })).rejects.toThrow(/an address/);
  },
);
