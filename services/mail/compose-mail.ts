// Writes a mail with nodemailer: headers, the text as plain text and as HTML, and the attachments.
import { Readable } from 'node:stream';
import MailComposer from 'nodemailer/lib/mail-composer';
import type { MailWords } from '#libs/mail/mail-words.ts';
import type { MessageRecord, Recipient } from '#libs/models/messages/message.ts';
import { isAutomatic } from '#libs/models/messages/message-kinds.ts';

/** A file in a mail. */
export interface MailFile {
  name: string;
  /** A media type. */
  type: string;
  bytes: Buffer;
}

export interface Letter extends MailWords {
  /** The address of the sender, and the name beside it. */
  from: string;
  fromName: string;
  /** The address for replies. They go to the sender without one. */
  replyTo?: string | undefined;
  attachments?: readonly MailFile[];
  date: Date;
}

/** nodemailer encodes a piece at once, which takes several times its bytes. */
const PIECE_BYTES = 64 * 1024;
/** Characters that could end a header or an address. */
const UNSAFE_ADDRESS = /[\s<>\p{Cc}]/u;

/** Returns the pieces of the mail in the form in which it is sent. @throws Error when an address could end its header. */
export function composeMail(message: MessageRecord, letter: Letter): AsyncIterable<Buffer> {
  const { text, html, replyTo, attachments = [] } = letter;
  const composer = new MailComposer({
    from: { name: oneLine(letter.fromName), address: safeAddress(letter.from) },
    to: addressesOf(message.recipients, 'to'),
    cc: addressesOf(message.recipients, 'cc'),
    // The addresses of blind copies are in the envelope alone.
    ...(replyTo ? { replyTo: { name: '', address: safeAddress(replyTo) } } : {}),
    subject: oneLine(letter.subject),
    messageId: message.message_id,
    date: letter.date,
    headers: {
      'Content-Language': message.locale,
      ...(isAutomatic(message.kind) ? { 'Auto-Submitted': 'auto-generated' } : {}),
    },
    text,
    html,
    attachments: attachments.map(({ name, type, bytes }) => ({
      filename: name,
      content: bytes.length > PIECE_BYTES ? Readable.from(piecesOf(bytes)) : bytes,
      contentType: type,
    })),
    // The form in which SMTP transports it, so that the kept mail has the bytes that were sent.
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().createReadStream();
}

function* piecesOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

function addressesOf(recipients: readonly Recipient[], role: Recipient['role']) {
  return recipients
    .filter((one) => one.role === role)
    .map(({ address }) => ({ name: '', address: safeAddress(address) }));
}

function safeAddress(address: string): string {
  if (UNSAFE_ADDRESS.test(address)) throw new Error('an address has a character that could end its header');
  return address;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
