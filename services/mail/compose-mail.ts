// Writes a mail with nodemailer: headers, the text as plain text and as HTML, and the attachment.
import { marked } from 'marked';
import MailComposer from 'nodemailer/lib/mail-composer';
import sanitizeHtml from 'sanitize-html';
import type { MessageRecord, Recipient } from '#libs/models/messages/message.ts';
import { isAutomatic } from '#libs/models/messages/message-kinds.ts';

export interface Letter {
  /** The address of the sender. */
  from: string;
  subject: string;
  /** The text with its values, for readers without HTML. */
  text: string;
  /** The same in Markdown, with values that cannot be taken for Markdown. */
  markdown: string;
  /** The colour of the account, `#rrggbb`. */
  color?: string | undefined;
  attachment?: { name: string; bytes: Buffer } | undefined;
  date: Date;
}

/** Headings, lists, emphasis and links. No images: they would tell when the mail was read. */
const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: [
    'p',
    'br',
    'strong',
    'em',
    'del',
    'h1',
    'h2',
    'h3',
    'ul',
    'ol',
    'li',
    'blockquote',
    'code',
    'pre',
    'hr',
    'a',
    'table',
    'thead',
    'tbody',
    'tr',
    'th',
    'td',
  ],
  allowedAttributes: { a: ['href'], th: ['align'], td: ['align'] },
  allowedSchemes: ['https', 'http', 'mailto', 'tel'],
  disallowedTagsMode: 'discard',
};

/** Characters that could end a header or an address. */
const UNSAFE_ADDRESS = /[\s<>\p{Cc}]/u;

/** Returns the mail in the form in which it is sent. @throws Error when an address could end its header. */
export async function composeMail(message: MessageRecord, letter: Letter): Promise<Buffer> {
  const { text, attachment } = letter;
  const composer = new MailComposer({
    from: { name: oneLine(message.from_name), address: safeAddress(letter.from) },
    to: addressesOf(message.recipients, 'to'),
    cc: addressesOf(message.recipients, 'cc'),
    // The addresses of blind copies are in the envelope alone.
    ...(message.reply_to ? { replyTo: { name: '', address: safeAddress(message.reply_to) } } : {}),
    subject: oneLine(letter.subject),
    messageId: message.message_id,
    date: letter.date,
    headers: {
      'Content-Language': message.locale,
      ...(isAutomatic(message.kind) ? { 'Auto-Submitted': 'auto-generated' } : {}),
    },
    text,
    html: await htmlOf(message, letter),
    attachments: attachment
      ? [{ filename: attachment.name, content: attachment.bytes, contentType: 'application/pdf' }]
      : [],
    // The form in which SMTP transports it, so that the kept mail has the bytes that were sent.
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

async function htmlOf({ locale }: MessageRecord, { markdown, subject, color }: Letter): Promise<string> {
  const body = sanitizeHtml(await marked.parse(markdown, { gfm: true, breaks: true }), ALLOWED);
  const direction = new Intl.Locale(locale).language === 'ar' ? 'rtl' : 'ltr';
  const accent = color !== undefined && /^#[0-9a-f]{6}$/i.test(color) ? color : '#0f766e';
  // Mail programs know few style sheets, so the page is plain: its width, its font, and one line in the colour of the account.
  return `<!doctype html>
<html lang="${escaped(locale)}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(oneLine(subject))}</title>
<style>a{color:inherit}table{border-collapse:collapse}td,th{padding:4px 8px;border-bottom:1px solid #8888}</style>
</head>
<body style="margin:0;padding:24px 16px;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<div style="max-width:600px;margin:0 auto;border-top:4px solid ${accent};padding-top:16px;overflow-wrap:break-word">
${body}</div>
</body>
</html>
`;
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

function escaped(text: string): string {
  return sanitizeHtml(text, { allowedTags: [], allowedAttributes: {}, disallowedTagsMode: 'escape' }).replaceAll(
    '"',
    '&quot;',
  );
}
