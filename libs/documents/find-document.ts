// Finds a stored invoice, quote, receipt or credit note and makes of it what the renderer prints.
import { billedTime } from '../billing/work/hours-of-invoice.ts';
import type { PrintableDocument } from '../jobs/printable-document.ts';
import type { AccountRecord } from '../models/accounts/account.ts';
import { Client, type ClientRecord } from '../models/accounts/client.ts';
import { CreditNote } from '../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '../models/billing/invoice.ts';
import { partiesOf } from '../models/billing/parties.ts';
import { Payment } from '../models/billing/payment.ts';
import { Quote, type QuoteRecord } from '../models/billing/quote.ts';
import { findOwn } from '../models/records.ts';
import type { Id, StoredId } from '../models/tenant.ts';
import { creditNoteDocument } from './credit-note-document.ts';
import type { DocumentLooks, InvoiceLooks, QuoteLooks } from './looks.ts';
import { printableTime } from './printable-time.ts';
import { invoiceDocument, type PartyDetails, quoteDocument, receiptDocument } from './stored-document.ts';

/** The account that issues the documents, with the profile that they are printed from. */
export interface Issuing {
  accountId: Id;
  account: AccountRecord;
}

/** @returns undefined when the id is unknown or another account's. */
export async function findInvoiceDocument(
  issuing: Issuing,
  id: Id | StoredId,
  looks: InvoiceLooks,
): Promise<PrintableDocument | undefined> {
  const { accountId, account } = issuing;
  const invoice = await findOwn(Invoice, accountId, id);
  const details = invoice && (await partyDetailsOf(invoice, issuing));
  if (!invoice || !details) return undefined;
  const document = invoiceDocument(invoice, details, looks);
  if (!looks.time) return document;
  const time = printableTime(await billedTime(invoice, { accountId }, account.locale), invoice.currency);
  return time.length > 0 ? { ...document, time } : document;
}

/** @returns undefined when the id is unknown or another account's. */
export async function findQuoteDocument(
  issuing: Issuing,
  id: Id | StoredId,
  looks: QuoteLooks,
): Promise<PrintableDocument | undefined> {
  const quote = await findOwn(Quote, issuing.accountId, id);
  const details = quote && (await partyDetailsOf(quote, issuing));
  return quote && details ? quoteDocument(quote, details, looks) : undefined;
}

/** @returns undefined when the id is unknown or another account's. */
export async function findReceipt(
  { accountId, account }: Issuing,
  id: Id | StoredId,
  looks: DocumentLooks,
): Promise<PrintableDocument | undefined> {
  const payment = await findOwn(Payment, accountId, id);
  if (!payment) return undefined;
  const isTest = account.mode === 'test';
  return receiptDocument(payment, { parties: payment.parties, timeZone: account.time_zone, isTest }, looks);
}

/** @returns undefined when the id is unknown or another account's. */
export async function findCreditNote(
  { accountId, account }: Issuing,
  id: Id | StoredId,
  looks: DocumentLooks,
): Promise<PrintableDocument | undefined> {
  const note = await findOwn(CreditNote, accountId, id);
  if (!note) return undefined;
  const isTest = account.mode === 'test';
  return creditNoteDocument(note, { parties: note.parties, timeZone: account.time_zone, isTest }, looks);
}

/** Returns issuer and client as they were when the document was sent. A draft has them as they are now. */
async function partyDetailsOf(record: InvoiceRecord | QuoteRecord, { accountId, account }: Issuing) {
  const issuer = { timeZone: account.time_zone, isTest: account.mode === 'test' };
  if (record.parties) return { parties: record.parties, ...issuer } satisfies PartyDetails;
  const client: ClientRecord | null = await findOwn(Client, accountId, record.client_id);
  // A client with documents cannot be deleted; a record restored from elsewhere may have lost it all the same.
  if (!client) return undefined;
  return { parties: partiesOf(account, client), ...issuer } satisfies PartyDetails;
}
