// The mail of a message: made at the first attempt, with the values and the PDF of that moment, and the same at every other one.
import { createHash } from 'node:crypto';
import { Semaphore } from 'es-toolkit/promise/semaphore';
import { linkUrl, makeLink } from '#libs/billing/links/make-link.ts';
import { receiptLink } from '#libs/billing/messages/plan-receipt.ts';
import { mailedRecord, mailedVersion, staleness } from '#libs/billing/messages/withdraw-message.ts';
import { clientStatements } from '#libs/billing/payments/client-statement.ts';
import type { UnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate, agreedTime } from '#libs/clock.ts';
import { dayIn } from '#libs/day.ts';
import { issuedDocument } from '#libs/documents/find-document.ts';
import { type EInvoiceSource, eInvoiceFile, eInvoiceOf, eInvoiceSource } from '#libs/documents/find-e-invoice.ts';
import { invoiceWays } from '#libs/documents/invoice-ways.ts';
import { STANDARD_LOOKS } from '#libs/documents/looks.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import type { RecordOfKind } from '#libs/documents/printed-content.ts';
import { closingBalances, type StatementContent, statementDocument } from '#libs/documents/statement-document.ts';
import { type FormatName, formatOf, neededFormat } from '#libs/e-invoice/formats.ts';
import { AppError } from '#libs/errors.ts';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { mailValues, senderOf } from '#libs/mail/mail-values.ts';
import { mailWords } from '#libs/mail/mail-words.ts';
import type { MailedRecords, MailedStatement } from '#libs/mail/mailed-records.ts';
import type { MailValues } from '#libs/mail/placeholders.ts';
import { suitedBody } from '#libs/mail/standard-texts.ts';
import type { Markdown } from '#libs/markdown/markdown.ts';
import { type AccountRecord, type MailSettings, readAccount } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord } from '#libs/models/accounts/client.ts';
import type { InvoiceRecord } from '#libs/models/billing/invoice.ts';
import type { PaymentRecord } from '#libs/models/billing/payment.ts';
import type { QuoteRecord } from '#libs/models/billing/quote.ts';
import { storedBytesOf } from '#libs/models/counter.ts';
import { findAttachments, mediaTypeOf } from '#libs/models/documents/attachments.ts';
import {
  findMailSource,
  insertMailSource,
  MAIL_FILES_BYTES_MAX,
  mailSourceOf,
} from '#libs/models/messages/mail-source.ts';
import type { MailAttachment, MailedKind, MailedLink, MessageRecord } from '#libs/models/messages/message.ts';
import { isReminder } from '#libs/models/messages/message-kinds.ts';
import { findOwn } from '#libs/models/records.ts';
import { quotaExceeded } from '#libs/models/stored-bytes.ts';
import { type Id, wireId } from '#libs/models/tenant.ts';
import { makeToken } from '#libs/models/token.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { fileName, requireWholePdf } from '#libs/printing/pdf-file.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import type { NumberKind } from '#libs/rules/documents/number-kinds.ts';
import { dueOf } from '#libs/rules/money/balance.ts';
import { composeMail, type Letter, type MailFile } from './compose-mail.ts';
import { DiskUnavailable, type HeldMail, holdMail, MailTooLarge } from './held-mail.ts';
import { openPlaces } from './places.ts';
import type { KeepMail, MadeMail, MailOf } from './send-message.ts';

/** The mails whose files or kept form are in memory at once, each with up to about 60 MiB. */
const MADE_AT_ONCE = 2;
/** The documents that are printed at once for mails: as many as may wait in memory for a place. */
const PRINTED_AT_ONCE = 8;

interface MakeOptions {
  /** The address of the sender of the installation. */
  from: string | undefined;
  print: PrintDocument;
  markdown: Pick<Markdown, 'toHtml'>;
  /** The bytes of records, events and originals that an account may keep. Any amount unless given. */
  quotaBytes?: number | undefined;
  /** The address with which links begin. Undefined when the portal is not set up. */
  portalUrl?: string | undefined;
}

/** Makes the function that returns the mail of a message. */
export function makeMailOf(options: MakeOptions): MailOf {
  const enter = openPlaces(MADE_AT_ONCE);
  const printing = new Semaphore(PRINTED_AT_ONCE);

  return async (message, { isFirst, signal }) => {
    try {
      // A mail is kept at the end of the first attempt at the latest.
      const kept = isFirst ? undefined : await inPlace(wireId(message.account_id), () => heldSource(message));
      return kept ? { contents: kept } : await make(message, signal);
    } catch (error) {
      if (error instanceof DiskUnavailable) return { notYet: error.message };
      if (error instanceof MailTooLarge) return { impossible: error.message };
      // A renderer or a machine that is busy will make it later. Any other rejection is about the document.
      if (!(error instanceof AppError)) throw error;
      // So does an account that has made room.
      if (error.status >= 500 || error.status === 429 || error.code === 'quota_exceeded')
        return { notYet: `The mail could not be made: ${error.message}` };
      return { impossible: `The mail cannot be made: ${error.message}` };
    }
  };

  /** Runs work in a place among few. `print` gives the place to another mail while the document is printed. */
  async function inPlace<Result>(accountId: Id, work: (print: PrintDocument) => Promise<Result>): Promise<Result> {
    let leave = await enter(accountId);
    const print: PrintDocument = async (request) => {
      leave();
      await printing.acquire();
      try {
        return await options.print(request);
      } finally {
        leave = await enter(accountId);
        printing.release();
      }
    };
    try {
      return await work(print);
    } finally {
      leave();
    }
  }

  async function make(message: MessageRecord, signal: AbortSignal): Promise<MadeMail> {
    const accountId = wireId(message.account_id);
    const sender = message.sender ?? options.from;
    if (sender === undefined) return { notYet: 'The installation has no mail server' };
    await requireRoom(accountId);
    const { type } = message.document;
    const [found, account, client] = await Promise.all([
      readAfterElection(async () => (await mailedRecord(accountId, message)) ?? undefined),
      readAccount(accountId),
      findOwn(Client, accountId, message.client_id) as Promise<ClientRecord | null>,
    ]);
    const reason = staleness(message, found ?? null, dayIn(account.time_zone));
    if (!found || reason) return { withdrawn: reason ?? 'The document was deleted' };
    // Without a portal, only a mail that consists of its link cannot be made.
    const wanted = linkOf(message, found);
    const isLinked = wanted && (options.portalUrl !== undefined || message.kind === 'link');
    const link = isLinked ? newLink() : undefined;
    if (link && !('token' in link)) return link;
    const statement =
      type === 'statement' && client ? await statementOf(found as MailedStatement, account, client) : undefined;
    const valued = statement ? { ...found, balances: closingBalances(statement, account) } : found;
    const own = mailValues(type, valued, { account, client: client ?? { name: '' }, locale: message.locale });
    const values = link ? { ...own, link: link.url } : own;
    const { subject_template: subject, locale } = message;
    const eInvoice = eInvoiceFor(message, found, neededFormat(client ?? {}, account));
    const body = bodyOf(message, found, message.attach_pdf || eInvoice !== undefined);
    const ways = waysOf(message, found, own);
    const given = { subject, body, values: { ...values, ...message.texts }, account, locale, ways };
    const words = await mailWords(given, { markdown: options.markdown, signal });
    const now = agreedDate();
    const made = await inPlace(accountId, async (print) => {
      const surroundings = { account, signal, print };
      const files = statement
        ? await statementFiles(message, statement, surroundings)
        : await filesOf(message, found as RecordOfKind[NumberKind], { ...surroundings, eInvoice });
      if (!Array.isArray(files)) return files;
      const attachments = files.map(attachmentOf);
      const letter = { from: sender, ...namesOf(account), ...words, attachments: files, date: now };
      return { contents: await holdMail(composeMail(message, letter)), attachments };
    });
    if (!('contents' in made)) return made;
    const { contents, attachments } = made;
    const ready = async <Result>(work: (keep: KeepMail) => Promise<Result>) => {
      const source = await mailSourceOf(message, contents, now);
      return work(async (unit) => {
        await insertMailSource(source, unit.session);
        if (wanted && link) await keepLink(unit, message, { ...wanted, token: link.token });
      });
    };
    return {
      contents,
      unkept: {
        values: { subject: words.subject, attachments, shown: mailedVersion(message, type, found) },
        ready: (work) => (contents.isLarge ? inPlace(accountId, () => ready(work)) : ready(work)),
      },
    };
  }

  /** A mail is kept with its files, which may be megabytes. @throws AppError 409 when the account has reached its quota. */
  async function requireRoom(accountId: Id): Promise<void> {
    const { quotaBytes } = options;
    if (quotaBytes === undefined) return;
    const stored = await storedBytesOf(accountId);
    if (stored >= quotaBytes) throw quotaExceeded(stored, quotaBytes);
  }

  /** Draws the token of the link. Another attempt draws another one, because the database keeps no token. */
  function newLink(): { url: string; token: string } | { impossible: string } {
    if (options.portalUrl === undefined) return { impossible: 'The mail needs a link, and PORTAL_URL is not set' };
    const token = makeToken();
    return { url: linkUrl(options.portalUrl, token), token };
  }

  /** Reads the movements of a client in a place, because they may be megabytes. @throws AppError 422 when they are too many. */
  async function statementOf(
    { client_id, period }: MailedStatement,
    account: AccountRecord,
    client: ClientRecord,
  ): Promise<StatementContent> {
    const accountId = wireId(client.account_id);
    const read = () => clientStatements(accountId, client_id, { period, timeZone: account.time_zone });
    return { client, period, statements: await inPlace(accountId, read) };
  }

  /** Prints a statement of account. It has no original: the mail that is kept has the file. */
  async function statementFiles(
    message: MessageRecord,
    content: StatementContent,
    { account, signal, print }: Surroundings,
  ): Promise<MailFile[]> {
    if (!message.attach_pdf) return [];
    const document = statementDocument(content, account, STANDARD_LOOKS);
    const printed = await printedFor(message, document, { signal, print });
    return [{ name: `${fileName(document.number)}.pdf`, type: 'application/pdf', bytes: printed.bytes }];
  }

  /** Returns the original of the document and its e-invoice, as every other reader gets them. */
  async function filesOf(
    message: MessageRecord,
    record: RecordOfKind[NumberKind],
    { account, eInvoice, signal, print }: Surroundings & { eInvoice: NeededEInvoice | undefined },
  ): Promise<MailFile[] | { withdrawn: string } | { impossible: string }> {
    const accountId = wireId(message.account_id);
    const { id } = message.document;
    const type = message.document.type as NumberKind;
    if (!message.attach_pdf && !eInvoice) return [];
    const issued = issuedDocument(type, accountId, record);
    if (issued === 'draft') return { withdrawn: 'The document is a draft' };
    let original: ReturnType<typeof originalOf> | undefined;
    const pdf = () =>
      (original ??= originalOf(issued, {
        accountId,
        quotaBytes: options.quotaBytes,
        async make() {
          const document = await issued.document(account);
          return document && printedFor(message, document, { signal, print });
        },
      }));
    // A PDF with the XML inside stands for the PDF: some recipients take one attachment.
    const hasPdf = message.attach_pdf && !(eInvoice && formatOf(eInvoice.format).embedded);
    // An e-invoice has the files of the invoice inside.
    const hasAttached = message.kind === 'invoice' && !eInvoice;
    const printed = hasPdf ? await pdf() : undefined;
    if (hasPdf && !printed) return CLIENT_GONE;
    // They are not in memory while the document is printed.
    const attached = hasAttached ? await findAttachments(accountId, id) : [];
    const files: MailFile[] = [
      ...(printed ? [{ name: `${fileName(issued.number)}.pdf`, type: 'application/pdf', bytes: printed.bytes }] : []),
      ...attached.map((file) => ({ name: file.name, type: mediaTypeOf(file), bytes: file.bytes })),
    ];
    if (eInvoice) {
      const { source, format } = eInvoice;
      const made = await eInvoiceOf(source, format, { accountId, quotaBytes: options.quotaBytes, pdf });
      if (!made) return CLIENT_GONE;
      const { end, type: mediaType } = eInvoiceFile(format);
      files.push({ name: `${fileName(source.number)}${end}`, type: mediaType, bytes: made.bytes });
    }
    const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    return size > MAIL_FILES_BYTES_MAX ? { impossible: 'The attachments are too large for a mail' } : files;
  }
}

interface Surroundings {
  account: AccountRecord;
  signal: AbortSignal;
  print: PrintDocument;
}

/** Prints a document for a mail, after all documents that callers wait for. */
async function printedFor(
  message: MessageRecord,
  document: PrintableDocument,
  { signal, print }: Pick<Surroundings, 'signal' | 'print'>,
): ReturnType<PrintDocument> {
  const accountId = wireId(message.account_id);
  const requestId = message.request_id ?? wireId(message._id);
  const printed = await print({ document, accountId, requestId, signal, isBackground: true });
  requireWholePdf(printed.bytes);
  return printed;
}

/** Holds the mail of a message that was kept, or returns undefined. */
async function heldSource({ account_id, _id }: MessageRecord): Promise<HeldMail | undefined> {
  const bytes = await findMailSource(wireId(account_id), _id);
  return bytes && holdMail([bytes]);
}

/** Returns the name of the sender and the address for replies, as the account has them when the mail is made. */
function namesOf(account: AccountRecord): Pick<Letter, 'fromName' | 'replyTo'> {
  const mail = account.mail as MailSettings | undefined;
  return { fromName: mail?.from_name || senderOf(account), replyTo: mail?.reply_to || account.email || undefined };
}

/**
 * Returns the words of the mail. Those about an invoice that is paid, or a quote that was accepted, ask for nothing. Those of
 * a mail without files speak of none.
 */
function bodyOf(
  { kind, locale, body_template }: MessageRecord,
  record: MailedRecords[MailedKind],
  hasFiles: boolean,
): string {
  const isSettled =
    (kind === 'quote' && (record as QuoteRecord).status === 'Accepted') ||
    (kind === 'invoice' && dueOf(record as InvoiceRecord) <= 0);
  return suitedBody(body_template, { kind, locale, isSettled, hasFiles });
}

/** Returns the link that the mail carries. That of a receipt leads to the invoice that the money pays by now. */
function linkOf({ kind, link }: MessageRecord, record: MailedRecords[MailedKind]): MailedLink | undefined {
  return kind === 'receipt' && link ? receiptLink(record as PaymentRecord, link) : link;
}

/** Returns the ways to pay, for a mail that asks for money. */
function waysOf(
  { kind }: MessageRecord,
  record: MailedRecords[MailedKind],
  { number = '', amount_due = '' }: MailValues,
) {
  if (kind !== 'invoice' && !isReminder(kind)) return undefined;
  const invoice = record as InvoiceRecord;
  const ways = invoice.parties ? invoiceWays(invoice, invoice.parties) : [];
  return { ways, number, amountDue: amount_due };
}

const CLIENT_GONE = { withdrawn: 'The client of the document was deleted' };

/** The e-invoice that goes with a mail. */
interface NeededEInvoice {
  source: EInvoiceSource;
  format: FormatName;
}

/** Returns the e-invoice that client or account need, for a mail that brings the document. Reminders bring it again only as PDF. */
function eInvoiceFor(
  { kind, account_id }: MessageRecord,
  record: MailedRecords[MailedKind],
  format: FormatName | undefined,
): NeededEInvoice | undefined {
  if (!format || (kind !== 'invoice' && kind !== 'credit_note')) return undefined;
  return { source: eInvoiceSource(kind, wireId(account_id), record as never), format };
}

/** Stores the link that the mail carries, under the terms that its request was allowed. */
async function keepLink(
  unit: UnitOfWork,
  message: MessageRecord,
  { token, type, invoice_id, life_ms, allow, show_time, show_statement }: MailedLink & { token: string },
) {
  const expires_at = life_ms === undefined ? undefined : new Date(agreedTime() + life_ms);
  const terms = { allow, show_time, show_statement, expires_at };
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

function attachmentOf({ name, bytes }: MailFile): MailAttachment {
  return { name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
