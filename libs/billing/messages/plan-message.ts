// Plans a mail about a document: its recipients, its words, and when it leaves. The mail service sends it.
import { dayIn } from '../../day.ts';
import { requireEInvoice } from '../../documents/find-e-invoice.ts';
import type { RecordOfKind } from '../../documents/printed-content.ts';
import { requireSmallFiles } from '../../documents/require-small-files.ts';
import { neededFormat } from '../../e-invoice/formats.ts';
import { appError, fieldProblem } from '../../errors.ts';
import { asciiDomain } from '../../mail/ascii-address.ts';
import { mailValues } from '../../mail/mail-values.ts';
import { filledSubject } from '../../mail/mail-words.ts';
import type { MailedRecords, MailedStatement } from '../../mail/mailed-records.ts';
import { mailLanguage, standardMailText } from '../../mail/standard-texts.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { Client, type ClientRecord } from '../../models/accounts/client.ts';
import { type InvoiceRecord, isOpen } from '../../models/billing/invoice.ts';
import { effectiveQuoteStatus, type QuoteRecord } from '../../models/billing/quote.ts';
import { domainOf, findMailServer } from '../../models/messages/mail-server.ts';
import { findMailService } from '../../models/messages/mail-service.ts';
import { findMailTemplates } from '../../models/messages/mail-template.ts';
import {
  type MailedKind,
  type MailedLink,
  Message,
  type MessageRecord,
  type MessageReminder,
  type MessageTexts,
  normalAddress,
  RECIPIENT_ROLES,
  RECIPIENTS_MAX,
  type Recipient,
  type RecipientRole,
} from '../../models/messages/message.ts';
import { isAboutMore, isReminder, type MessageKind } from '../../models/messages/message-kinds.ts';
import { newMessageState } from '../../models/messages/message-moves.ts';
import { suppressedOf } from '../../models/messages/suppression.ts';
import { driverOf, findOwn, insertOwn } from '../../models/records.ts';
import { countStored, sizeOf } from '../../models/stored-bytes.ts';
import { newRecord, type StoredId } from '../../models/tenant.ts';
import type { Actor } from '../../models/webhooks/event-activity.ts';
import { dueOf } from '../../rules/money/balance.ts';
import { statementName } from '../payments/statement.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { archiveOf, type Named, withArchive } from './archive-copies.ts';
import { showDelivery } from './move-message.ts';
import { takersOf } from './takers.ts';

/** The wishes of a caller about a mail. */
export interface WantedMail {
  to?: readonly string[] | undefined;
  cc?: readonly string[] | undefined;
  bcc?: readonly string[] | undefined;
  subject?: string | undefined;
  /** Markdown with placeholders, instead of the template. */
  message?: string | undefined;
  attach_pdf?: boolean | undefined;
  send_at?: Date | undefined;
}

export interface NewMessage<Kind extends MailedKind> {
  kind: MessageKind;
  type: Kind;
  record: MailedRecords[Kind];
  wanted: WantedMail;
  /** See MessageRecord. */
  texts?: MessageTexts | undefined;
  /** See MessageRecord. */
  once?: string;
  /** The link that the mail carries. The caller checks that its request may do what the link allows. */
  link?: MailedLink | undefined;
  /** The step of a reminder that goes out by itself. */
  days?: number | undefined;
  /** See MessageReminder. A step of days before the due date is early by itself. */
  early?: true | undefined;
  resendOf?: StoredId;
  /** The recipients, in place of those that `wanted` and the account name. */
  recipients?: readonly Named[];
  requestId?: string | undefined;
  /** The actor that planned it first, of a message that is planned anew. */
  by?: Actor | undefined;
}

/**
 * Stores the message and lets the document show it.
 * @throws AppError 409 when mail is not set up, the client has no address, a recipient is suppressed, the document is not
 * to be sent any more or lacks something for the e-invoice that goes with it, or nothing is due of the invoice of a
 * reminder.
 */
export async function planMessage<Kind extends MailedKind>(
  unit: UnitOfWork,
  given: NewMessage<Kind>,
): Promise<MessageRecord> {
  const { kind, type, record, wanted, texts, once, days, early, link, resendOf, requestId, by = unit.by } = given;
  const { session, accountId } = unit;
  const own = await findMailServer(accountId, session);
  const domain = own ? (own.bounce_domain ?? domainOf(own.from)) : (await findMailService(session))?.domain;
  if (domain === undefined) throw appError('mail_not_set_up');
  const account = await readAccount(accountId, session);
  const client: ClientRecord | null = await findOwn(Client, accountId, record.client_id, session);
  const locale = ('parties' in record ? record.parties?.issuer.locale : undefined) ?? account.locale;
  const values = mailValues(type, record, { account, client: client ?? { name: '' }, locale });
  const base = newRecord(accountId);
  const nextAt = wanted.send_at ?? base.created_at;
  const day = dayIn(account.time_zone, nextAt);
  const period = type === 'statement' ? (record as MailedStatement).period : undefined;
  const number = period ? statementName(period) : String(values.number);
  requireMailable(record, { kind, link, number, day });
  if (kind === 'invoice' || kind === 'credit_note') {
    await requireEInvoice(kind, record as RecordOfKind[typeof kind], { account, client });
    const files = { hasPdf: wanted.attach_pdf ?? true, format: neededFormat(client ?? {}, account) };
    await requireSmallFiles(kind, record as RecordOfKind[typeof kind], { accountId, ...files });
  }
  const reminder = isReminder(kind) ? reminderOf(record as InvoiceRecord, { days, early, day }) : undefined;
  const state = newMessageState(wanted.send_at ? 'plan' : 'queue', nextAt);
  const named = given.recipients ?? namedBy({ to: await takersFor(unit, given, client), ...wanted }, client);
  const all = withArchive(named, await archiveOf(unit, account), {});
  if (!given.recipients && all.length > RECIPIENTS_MAX)
    throw fieldProblem('to', 'too_many_items', { limit: RECIPIENTS_MAX });
  await requireUnsuppressed(unit, all);
  const recipients = all.map((one): Recipient => ({ ...one, state: state.state, at: base.created_at }));
  const template = await templateOf(unit, kind, locale);
  const subject_template = wanted.subject ?? template.subject;
  const message: MessageRecord = {
    ...base,
    kind,
    document: { type, id: record._id, number },
    client_id: record.client_id,
    ...(period ? { period } : {}),
    locale,
    subject: filledSubject(subject_template, { ...values, ...texts }, account),
    subject_template,
    body_template: wanted.message ?? template.body,
    attach_pdf: wanted.attach_pdf ?? true,
    ...(texts ? { texts } : {}),
    ...(own ? { sender: own.from } : {}),
    recipients,
    ...state,
    message_id: `<${String(base._id)}@${asciiDomain(domain)}>`,
    ...(wanted.send_at ? { send_at: wanted.send_at } : {}),
    ...(once ? { once } : {}),
    // An anonymised client has no links, and its documents get none.
    ...(link && !client?.anonymised_at ? { link } : {}),
    ...(kind === 'quote' && (record as QuoteRecord).status === 'Accepted' ? { of_accepted: true as const } : {}),
    ...(reminder ? { reminder } : {}),
    ...(resendOf ? { resend_of: resendOf } : {}),
    ...(requestId ? { request_id: requestId } : {}),
    ...(by ? { by } : {}),
  };
  await insertOwn(Message, message, session);
  if (resendOf) await markResent(unit, resendOf, message);
  await showDelivery(unit, message, { isLast: true });
  return message;
}

/** @throws AppError 409 when mail to one of the recipients came back. */
async function requireUnsuppressed({ session, accountId }: UnitOfWork, recipients: readonly Named[]): Promise<void> {
  const addresses = recipients.map(({ address }) => address);
  const suppressed = await suppressedOf(accountId, addresses, session);
  const refused = addresses.filter((address) => suppressed.has(address));
  if (refused.length > 0) throw appError('recipient_suppressed', { addresses: refused });
}

/** Notes on a message that another one repeats it. Readers do not see the mark, so `updated_at` stays. */
async function markResent({ session }: UnitOfWork, _id: StoredId, { account_id, _id: by }: MessageRecord) {
  const own = { _id, account_id } as object;
  const before = await driverOf(Message).findOneAndUpdate(own, { $set: { resent_as: by } } as never, { session });
  if (before) countStored(session, sizeOf({ ...before, resent_as: by }) - sizeOf(before));
}

/**
 * @throws AppError 409 when nothing is due, and before the due date unless the reminder may be early. The day of a step is
 * decided by the look that plans it.
 */
function reminderOf(
  invoice: InvoiceRecord,
  { days, early, day }: Pick<NewMessage<'invoice'>, 'days' | 'early'> & { day: string },
): MessageReminder {
  const isEarly = early === true || (days !== undefined && days < 0);
  const isTooSoon = days === undefined && !isEarly && day < invoice.due_date;
  if (!isOpen(invoice) || isTooSoon) throw appError('invoice_not_due');
  const { currency } = invoice;
  return {
    ...(days === undefined ? {} : { days }),
    ...(isEarly ? { early: true } : {}),
    amount_due: dueOf(invoice),
    currency,
  };
}

/**
 * Returns the recipients of a reminder or a receipt for a client without an address: those who took the invoice.
 * Undefined where the client has one.
 */
async function takersFor(
  unit: UnitOfWork,
  { kind, record, link }: NewMessage<MailedKind>,
  client: Pick<ClientRecord, 'email' | 'anonymised_at' | 'email_removed_at'> | null,
): Promise<string[] | undefined> {
  if (!client || client.email || client.anonymised_at) return undefined;
  if (isReminder(kind)) return takersOf(unit, record._id, client);
  return kind === 'receipt' && link?.invoice_id ? takersOf(unit, link.invoice_id, client) : undefined;
}

/** Returns the words of the account, or the standard ones. */
async function templateOf({ session, accountId }: UnitOfWork, kind: MessageKind, locale: string) {
  const language = mailLanguage(locale);
  const own = await findMailTemplates(accountId, kind, session);
  return own.find((one) => one.language === language) ?? standardMailText(kind, language);
}

/**
 * @throws AppError 409 for a document that was cancelled or voided, or is a draft again, and for a quote that is no offer
 * any more: its reader would take it for a valid one. A mail that is about more is sent all the same, and a quote that was
 * accepted is sent as a copy.
 */
function requireMailable(
  record: MailedRecords[MailedKind],
  { kind, link, number, day }: { kind: MessageKind; link: MailedLink | undefined; number: string; day: string },
): void {
  if (isAboutMore({ kind, link })) return;
  const status = 'status' in record ? record.status : undefined;
  const isTakenBack = status === 'Cancelled' || status === 'Voided' || status === 'Draft';
  const isNoOffer = kind === 'quote' && (status === 'Declined' || status === 'Expired');
  if (isTakenBack || isNoOffer) throw appError('document_not_mailable', { number, status });
  if (kind !== 'quote') return;
  const quote = record as QuoteRecord;
  const { expires_at } = quote;
  if (effectiveQuoteStatus(quote, day) === 'Expired') throw appError('quote_not_mailable', { number, day, expires_at });
}

/** Returns the recipients that the caller names, or the client. @throws AppError 409 without an address. */
function namedBy(wanted: WantedMail, client: Pick<ClientRecord, 'email' | 'anonymised_at'> | null): Named[] {
  const own = client?.email && !client.anonymised_at ? [client.email] : [];
  const given: Record<RecipientRole, readonly string[]> = {
    to: wanted.to ?? own,
    cc: wanted.cc ?? [],
    bcc: wanted.bcc ?? [],
  };
  if (given.to.length === 0) throw appError('client_without_address');
  const roles = new Map<string, RecipientRole>();
  for (const role of RECIPIENT_ROLES) {
    for (const address of given[role].map(normalAddress)) if (!roles.has(address)) roles.set(address, role);
  }
  return [...roles].map(([address, role]) => ({ address, role }));
}
