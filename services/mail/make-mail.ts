// The mail of a message: made at the first attempt, with the values and the PDF of that moment, and the same at every other one.
import { createHash } from 'node:crypto';
import { moveMessage } from '#libs/billing/messages/move-message.ts';
import { runUnitOfWork } from '#libs/billing/unit-of-work.ts';
import { agreedDate } from '#libs/clock.ts';
import { findIssuedDocument } from '#libs/documents/find-document.ts';
import { originalOf } from '#libs/documents/original-of.ts';
import type { RecordOfKind } from '#libs/documents/printed-content.ts';
import { AppError } from '#libs/errors.ts';
import { mailValues } from '#libs/mail/mail-values.ts';
import { mailWords } from '#libs/mail/mail-words.ts';
import type { Markdown } from '#libs/markdown/markdown.ts';
import { type AccountRecord, readAccount } from '#libs/models/accounts/account.ts';
import { Client, type ClientRecord } from '#libs/models/accounts/client.ts';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { findMailSource, insertMailSource, MAIL_BYTES_MAX, mailSourceOf } from '#libs/models/messages/mail-source.ts';
import type { MailAttachment, MessageRecord } from '#libs/models/messages/message.ts';
import { findOwn } from '#libs/models/records.ts';
import { type Id, wireId } from '#libs/models/tenant.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { fileName, requireWholePdf } from '#libs/printing/pdf-file.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import type { NumberKind } from '#libs/rules/documents/number-kinds.ts';
import { composeMail } from './compose-mail.ts';
import type { MadeMail, MailOf } from './send-message.ts';

/** Encoded in base64, the attachment must leave room for the text. */
const PDF_BYTES_MAX = Math.floor(MAIL_BYTES_MAX * 0.7);

interface Pdf {
  name: string;
  bytes: Buffer;
}

interface MakeOptions {
  /** The address of the sender. */
  from: string;
  print: PrintDocument;
  markdown: Pick<Markdown, 'toHtml'>;
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
    const { type, id } = message.document;
    const found = await readAfterElection(async () => (await recordOf(type, accountId, id)) ?? undefined);
    if (!found) return { withdrawn: 'The document was deleted' };
    const status = 'status' in found ? found.status : undefined;
    if (status === 'Cancelled' || status === 'Voided') return { withdrawn: `The document is ${status}` };
    const [account, client] = await Promise.all([
      readAccount(accountId),
      findOwn(Client, accountId, message.client_id) as Promise<ClientRecord | null>,
    ]);
    const values = mailValues(type, found, { account, client: client ?? { name: '' }, locale: message.locale });
    const { subject_template: subject, body_template: body, locale } = message;
    const words = await mailWords({ subject, body, values, account, locale }, { markdown: options.markdown, signal });
    const pdf = message.attach_pdf ? await pdfOf(message, account, signal) : undefined;
    if (pdf && !('bytes' in pdf)) return pdf;
    const now = agreedDate();
    const bytes = await composeMail(message, {
      from: options.from,
      ...words,
      attachment: pdf,
      date: now,
    });
    if (bytes.length > MAIL_BYTES_MAX) return { impossible: `The mail is larger than ${MAIL_BYTES_MAX / 2 ** 20} MiB` };
    const attachments = pdf ? [attachmentOf(pdf)] : [];
    return keep(message, leaseId, { bytes, subject: words.subject, attachments, now });
  }

  /** Returns the original of the document, as every other reader gets it. */
  async function pdfOf(
    message: MessageRecord,
    account: AccountRecord,
    signal: AbortSignal,
  ): Promise<Pdf | { withdrawn: string } | { impossible: string }> {
    const accountId = wireId(message.account_id);
    const { type, id } = message.document;
    const issued = await readAfterElection(() => findIssuedDocument(type, accountId, id));
    if (issued === undefined) return { withdrawn: 'The document was deleted' };
    if (issued === 'draft') return { withdrawn: 'The document is a draft' };
    const original = await originalOf(issued, {
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
    if (!original) return { withdrawn: 'The client of the document was deleted' };
    if (original.bytes.length > PDF_BYTES_MAX) return { impossible: 'The PDF is too large for a mail' };
    return { name: `${fileName(issued.number)}.pdf`, bytes: original.bytes };
  }
}

/** Keeps the mail and shows its attachments on the message, if the lease still belongs to this worker. */
async function keep(
  message: MessageRecord,
  leaseId: string,
  { bytes, subject, attachments, now }: { bytes: Buffer; subject: string; attachments: MailAttachment[]; now: Date },
): Promise<MadeMail> {
  const source = await mailSourceOf(message, bytes, now);
  const accountId = wireId(message.account_id);
  const { result } = await runUnitOfWork({ accountId }, async (unit) => {
    const values = { subject, attachments };
    const changed = await moveMessage(unit, message, { move: 'extendLease', facts: { leaseId }, values });
    if (changed) await insertMailSource(source, unit.session);
    return changed;
  });
  return result ? { bytes, message: result } : { lost: true };
}

function attachmentOf({ name, bytes }: { name: string; bytes: Buffer }): MailAttachment {
  return { name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const RECORDS = { invoice: Invoice, quote: Quote, payment: Payment, credit_note: CreditNote } as const;

function recordOf<Kind extends NumberKind>(
  kind: Kind,
  accountId: Id,
  id: MessageRecord['document']['id'],
): Promise<RecordOfKind[Kind] | null> {
  return findOwn(RECORDS[kind] as never, accountId, id) as Promise<RecordOfKind[Kind] | null>;
}
