// The mail of a message: made at the first attempt, with the values and the PDF of that moment, and the same at every other one.
import { createHash } from 'node:crypto';
import { linkUrl, makeLink } from '#libs/billing/links/make-link.ts';
import { moveMessage } from '#libs/billing/messages/move-message.ts';
import { mailedRecord, staleness } from '#libs/billing/messages/withdraw-message.ts';
import { runUnitOfWork, type UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { findIssuedDocument } from '#libs/documents/find-document.ts';
import { eInvoiceFile, eInvoiceOf, findCreditNoteSource, findInvoiceSource } from '#libs/documents/find-e-invoice.ts';
import { invoiceWays } from '#libs/documents/invoice-ways.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import type { RecordOfKind } from '#libs/documents/printed-content.ts';
import { formatOf } from '#libs/e-invoice/formats.ts';
import { AppError } from '#libs/errors.ts';
import { mailValues } from '#libs/mail/mail-values.ts';
import { mailWords } from '#libs/mail/mail-words.ts';
import type { MailValues } from '#libs/mail/placeholders.ts';
import type { Markdown } from '#libs/markdown/markdown.ts';
import { type AccountRecord, readAccount } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord } from '#libs/models/accounts/client.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { findAttachments, mediaTypeOf } from '#libs/models/documents/attachments.ts';
import { findMailSource, insertMailSource, MAIL_BYTES_MAX, mailSourceOf } from '#libs/models/messages/mail-source.ts';
import type { MailAttachment, MailedLink, MessageRecord } from '#libs/models/messages/message.ts';
import { isReminder, type MessageKind } from '#libs/models/messages/message-kinds.ts';
import { findOwn } from '#libs/models/records.ts';
import { wireId } from '#libs/models/tenant.ts';
import { makeToken } from '#libs/models/token.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { fileName, requireWholePdf } from '#libs/printing/pdf-file.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import type { NumberKind } from '#libs/rules/documents/number-kinds.ts';
import { composeMail, type MailFile } from './compose-mail.ts';
import type { MadeMail, MailOf } from './send-message.ts';

/** Encoded in base64, the attachments must leave room for the text. */
const FILES_BYTES_MAX = Math.floor(MAIL_BYTES_MAX * 0.7);

interface MakeOptions {
  /** The address of the sender of the installation. */
  from: string | undefined;
  print: PrintDocument;
  markdown: Pick<Markdown, 'toHtml'>;
  /** The address with which links begin. Undefined when the portal is not set up. */
  portalUrl?: string | undefined;
}

/** Makes the function that returns the mail of a message. */
export function makeMailOf(options: MakeOptions): MailOf {
  return async (message, leaseId, signal) => {
    const accountId = wireId(message.account_id);
    const kept = await findMailSource(accountId, message._id);
    if (kept) return { bytes: kept, message };
    try {
      return await make(message, leaseId, signal);
    } catch (error) {
      // A renderer or a machine that is busy will make it later. Any other rejection is about the document.
      if (!(error instanceof AppError)) throw error;
      if (error.status >= 500 || error.status === 429)
        return { notYet: `The mail could not be made: ${error.message}` };
      return { impossible: `The mail cannot be made: ${error.message}` };
    }
  };

  async function make(message: MessageRecord, leaseId: string, signal: AbortSignal): Promise<MadeMail> {
    const accountId = wireId(message.account_id);
    const sender = message.sender ?? options.from;
    if (sender === undefined) return { notYet: 'The installation has no mail server' };
    const { type } = message.document;
    const found = await readAfterElection(async () => (await mailedRecord(accountId, message)) ?? undefined);
    const reason = staleness(message, found ?? null);
    if (!found || reason) return { withdrawn: reason ?? 'The document was deleted' };
    const [account, client] = await Promise.all([
      readAccount(accountId),
      findOwn(Client, accountId, message.client_id) as Promise<ClientRecord | null>,
    ]);
    // Without a portal, only a mail that consists of its link cannot be made.
    const isLinked = message.link && (options.portalUrl !== undefined || message.kind === 'link');
    const link = isLinked ? newLink() : undefined;
    if (link && !('token' in link)) return link;
    const own = mailValues(type, found, { account, client: client ?? { name: '' }, locale: message.locale });
    const values = link ? { ...own, link: link.url } : own;
    const { subject_template: subject, body_template: body, locale } = message;
    const ways = waysOf(message, found, own);
    const given = { subject, body, values: { ...values, ...message.texts }, account, locale, ways };
    const words = await mailWords(given, { markdown: options.markdown, signal });
    const files = await filesOf(message, account, signal);
    if (!Array.isArray(files)) return files;
    const now = agreedDate();
    const bytes = await composeMail(message, {
      from: sender,
      ...words,
      attachments: files,
      date: now,
    });
    if (bytes.length > MAIL_BYTES_MAX) return { impossible: `The mail is larger than ${MAIL_BYTES_MAX / 2 ** 20} MiB` };
    const made = { bytes, subject: words.subject, attachments: files.map(attachmentOf), now };
    return keep(message, leaseId, { ...made, token: link?.token });
  }

  /** Draws the token of the link. Another attempt draws another one, because the database keeps no token. */
  function newLink(): { url: string; token: string } | { impossible: string } {
    if (options.portalUrl === undefined) return { impossible: 'The mail needs a link, and PORTAL_URL is not set' };
    const token = makeToken();
    return { url: linkUrl(options.portalUrl, token), token };
  }

  /** Returns the original of the document and its e-invoice, as every other reader gets them. */
  async function filesOf(
    message: MessageRecord,
    account: AccountRecord,
    signal: AbortSignal,
  ): Promise<MailFile[] | { withdrawn: string } | { impossible: string }> {
    const accountId = wireId(message.account_id);
    const { type, id } = message.document;
    const eInvoice = await eInvoiceFor(message);
    if (!message.attach_pdf && !eInvoice) return [];
    const issued = await readAfterElection(() => findIssuedDocument(type, accountId, id));
    if (issued === undefined) return { withdrawn: 'The document was deleted' };
    if (issued === 'draft') return { withdrawn: 'The document is a draft' };
    const pdf = () =>
      originalOf(issued, {
        accountId,
        async make() {
          const document = await issued.document(account);
          if (!document) return undefined;
          const requestId = message.request_id ?? wireId(message._id);
          const printed = await options.print({ document, accountId, requestId, signal, isBackground: true });
          requireWholePdf(printed.bytes);
          return printed;
        },
      });
    const files: MailFile[] = [];
    // A PDF with the XML inside stands for the PDF: some recipients take one attachment.
    if (message.attach_pdf && !(eInvoice && formatOf(eInvoice.format).embedded)) {
      const original = await pdf();
      if (!original) return CLIENT_GONE;
      files.push({ name: `${fileName(issued.number)}.pdf`, type: 'application/pdf', bytes: original.bytes });
    }
    // An e-invoice has the files of the invoice inside.
    if (message.kind === 'invoice' && !eInvoice) {
      const attached = await findAttachments(accountId, id);
      files.push(...attached.map((file) => ({ name: file.name, type: mediaTypeOf(file), bytes: file.bytes })));
    }
    if (eInvoice) {
      const { source, format } = eInvoice;
      const made = await eInvoiceOf(source, format, { accountId, pdf });
      if (!made) return CLIENT_GONE;
      const { end, type: mediaType } = eInvoiceFile(format);
      files.push({ name: `${fileName(source.number)}${end}`, type: mediaType, bytes: made.bytes });
    }
    const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    return size > FILES_BYTES_MAX ? { impossible: 'The attachments are too large for a mail' } : files;
  }
}

/** Returns the ways to pay, for a mail that asks for money. */
function waysOf(
  { kind }: MessageRecord,
  record: RecordOfKind[NumberKind],
  { number = '', amount_due = '' }: MailValues,
) {
  if (kind !== 'invoice' && !isReminder(kind)) return undefined;
  const invoice = record as InvoiceRecord;
  const ways = invoice.parties ? invoiceWays(invoice, invoice.parties) : [];
  return { ways, number, amountDue: amount_due };
}

const CLIENT_GONE = { withdrawn: 'The client of the document was deleted' };

/** Returns the e-invoice that client or account need, for a mail that brings the document. Reminders bring it again only as PDF. */
async function eInvoiceFor({ kind, account_id, document }: MessageRecord) {
  const find = E_INVOICES[kind];
  const source = find && (await readAfterElection(() => find(wireId(account_id), document.id)));
  const format = source && (await source.wishes()).format;
  return source && format && { source, format };
}

const E_INVOICES: Partial<Record<MessageKind, typeof findInvoiceSource>> = {
  invoice: findInvoiceSource,
  credit_note: findCreditNoteSource,
};

interface MadeParts {
  bytes: Buffer;
  subject: string;
  attachments: MailAttachment[];
  now: Date;
  /** The token of the link in the mail. */
  token: string | undefined;
}

/** Stores the link that the mail carries, under the terms that its request was allowed. */
async function keepLink(
  unit: UnitOfWork,
  message: MessageRecord,
  { token, type, invoice_id, ...terms }: MailedLink & { token: string },
) {
  const id = type === 'client' ? message.client_id : (invoice_id ?? message.document.id);
  const record = { _id: id, client_id: message.client_id };
  await makeLink(unit, {
    type,
    record,
    terms,
    mailed: { messageId: message._id, token },
    requestId: message.request_id,
  });
}

/** Keeps the mail and shows its attachments on the message, if the lease still belongs to this worker. */
async function keep(
  message: MessageRecord,
  leaseId: string,
  { bytes, subject, attachments, now, token }: MadeParts,
): Promise<MadeMail> {
  const source = await mailSourceOf(message, bytes, now);
  const accountId = wireId(message.account_id);
  const { result } = await runUnitOfWork({ accountId, by: { type: 'mail' } }, async (unit) => {
    const values = { subject, attachments };
    const changed = await moveMessage(unit, message, { move: 'extendLease', facts: { leaseId }, values });
    if (!changed) return changed;
    await insertMailSource(source, unit.session);
    if (message.link && token !== undefined) await keepLink(unit, message, { ...message.link, token });
    return changed;
  });
  return result ? { bytes, message: result } : { lost: true };
}

function attachmentOf({ name, bytes }: MailFile): MailAttachment {
  return { name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
