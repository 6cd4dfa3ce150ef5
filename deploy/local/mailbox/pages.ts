// The pages of the mailbox: the list of mails, one mail as a person reads it, its attachments and its source.
import { type AddressObject, type Attachment, type ParsedMail, simpleParser } from 'mailparser';
import { type Children, html, renderPage } from '#libs/pages/html.ts';
import type { Answer } from '../private-pages.ts';
import type { KeptMails } from './kept-mails.ts';
import { STYLE } from './style.ts';

// A page has its own style sheet and shows the mail in a frame; nothing else is loaded.
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
// The mail itself runs no script and loads nothing. Its links open new tabs.
const MAIL_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; form-action 'none'; " +
  'sandbox allow-popups allow-popups-to-escape-sandbox';
const REFRESH_SECONDS = 3;

// Returns a page, or the 404 of a path without one.
export async function pageOf(mails: KeptMails, path: string[]): Promise<Answer> {
  return (await found(mails, path)) ?? missing();
}

async function found(
  mails: KeptMails,
  [what = '', id = '', part = '', place = '']: string[],
): Promise<Answer | undefined> {
  if (what === '') return list(mails);
  if (what === 'style.css') return { type: 'text/css', body: STYLE };
  if (what === 'mails.json') return listAsJson(mails);
  const source = what === 'mails' ? await mails.read(id) : undefined;
  if (!source) return undefined;
  if (part === 'source') return { type: 'text/plain', body: source };
  const mail = await simpleParser(source, { skipTextToHtml: true, skipTextLinks: true });
  if (part === '') return one(mail);
  if (part === 'html' && mail.html !== false && mail.html !== undefined) return framed(mail.html);
  if (part === 'attachments') return attachment(mail.attachments[Number(place)]);
  return undefined;
}

async function list(mails: KeptMails): Promise<Answer> {
  const all = await summaries(mails);
  const body = html`<main>
    <h1>Mailbox</h1>
    <p class="quiet">Billhook sends its mail here, and it goes no further. SMTP_URL and MAIL_FROM name a real server.</p>
    ${all.length === 0 ? html`<p class="empty">No mail yet. This page looks again every ${REFRESH_SECONDS} seconds.</p>` : null}
    <ul class="mails">
      ${all.map(
        ({ id, subject, from, to, at, attachments }) => html`<li>
          <a href=${`mails/${id}/`}>
            <span class="subject" dir="auto">${subject}</span>
            <span class="quiet">${from} → ${to}</span>
            <span class="quiet">${writtenTime(at)}${attachments.length > 0 ? ` · ${attachments.join(', ')}` : ''}</span>
          </a>
        </li>`,
      )}
    </ul>
  </main>`;
  return document('Mailbox', body, { depth: '', headers: { Refresh: String(REFRESH_SECONDS) } });
}

// Shows programs the same list.
async function listAsJson(mails: KeptMails): Promise<Answer> {
  return { type: 'application/json', body: `${JSON.stringify(await summaries(mails), null, 2)}\n` };
}

async function summaries(mails: KeptMails) {
  const found = [];
  for (const id of mails.ids()) {
    const source = await mails.read(id);
    const mail =
      source && (await simpleParser(source, { skipTextToHtml: true, skipHtmlToText: true, skipImageLinks: true }));
    if (!mail) continue;
    found.push({
      id,
      subject: mail.subject ?? '(no subject)',
      from: addressesOf(mail.from),
      to: addressesOf(mail.to),
      at: mail.date?.toISOString() ?? '',
      message_id: mail.messageId ?? '',
      attachments: mail.attachments.map(nameOf),
    });
  }
  return found;
}

function one(mail: ParsedMail): Answer {
  const subject = mail.subject ?? '(no subject)';
  const rows: [string, string][] = [
    ['From', addressesOf(mail.from)],
    ['To', addressesOf(mail.to)],
    ['Cc', addressesOf(mail.cc)],
    ['Reply to', addressesOf(mail.replyTo)],
    ['Date', writtenTime(mail.date?.toISOString() ?? '')],
  ];
  const text = mail.text ?? '';
  const body = html`<main>
    <p><a href="../../">← Mailbox</a></p>
    <h1 dir="auto">${subject}</h1>
    <dl>
      ${rows.filter(([, value]) => value !== '').map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>
    ${
      mail.attachments.length > 0
        ? html`<ul class="attachments">
            ${mail.attachments.map(
              (file, index) =>
                html`<li><a href=${`attachments/${index}/${encodeURIComponent(nameOf(file))}`} download=${nameOf(file)}>${nameOf(file)}</a> <span class="quiet">${file.contentType}, ${Math.ceil(file.size / 1024)} KiB</span></li>`,
            )}
          </ul>`
        : null
    }
    ${
      mail.html
        ? html`<iframe title="The mail" src="html" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer"></iframe>
            <details><summary>Plain text</summary><pre>${text}</pre></details>`
        : html`<pre>${text}</pre>`
    }
    <p><a href="source">Source</a></p>
  </main>`;
  return document(subject, body, { depth: '../../' });
}

function document(
  title: string,
  body: Children,
  { depth, headers = {} }: { depth: string; headers?: Record<string, string> },
): Answer {
  const page = html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>${title}</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href=${`${depth}style.css`} />
    </head>
    <body>${body}</body>
  </html>`;
  return { type: 'text/html', body: renderPage(page), headers: { 'Content-Security-Policy': PAGE_POLICY, ...headers } };
}

function framed(mail: string): Answer {
  // The links of the mail would otherwise open in the frame.
  const body = /<head[^>]*>/i.test(mail)
    ? mail.replace(/<head[^>]*>/i, (head) => `${head}<base target="_blank">`)
    : `<base target="_blank">${mail}`;
  return { type: 'text/html', body, headers: { 'Content-Security-Policy': MAIL_POLICY } };
}

function attachment(file: Attachment | undefined): Answer | undefined {
  if (!file) return undefined;
  return {
    type: /^[\w.+-]+\/[\w.+-]+$/.test(file.contentType) ? file.contentType : 'application/octet-stream',
    body: file.content,
    headers: {
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(nameOf(file))}`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
    },
  };
}

function missing(): Answer {
  const body = html`<main><h1>No such mail</h1><p>It may have made room for newer ones.</p></main>`;
  return { ...document('No such mail', body, { depth: '' }), status: 404 };
}

function addressesOf(addresses: AddressObject | AddressObject[] | undefined): string {
  return [addresses ?? []]
    .flat()
    .map(({ text }) => text)
    .join(', ');
}

function nameOf({ filename }: Attachment): string {
  return filename ?? 'attachment';
}

function writtenTime(at: string): string {
  return at.replace('T', ' ').replace(/:\d\d\.\d+Z$/, ' UTC');
}
