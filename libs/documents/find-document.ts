// Finds a stored invoice, quote, receipt or credit note and makes of it what the renderer prints.
import { billedTime } from '../billing/work/hours-of-invoice.ts';
import type { PrintableDocument } from '../jobs/printable-document.ts';
import type { AccountRecord } from '../models/accounts/account.ts';
import { Client, type ClientRecord } from '../models/accounts/client.ts';
import { evidenceOf } from '../models/answers/quote-evidence.ts';
import { CreditNote, type CreditNoteRecord } from '../models/billing/credit-note.ts';
import { Invoice, type InvoiceRecord } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import { type Parties, partiesOf } from '../models/billing/parties.ts';
import { Payment, type PaymentRecord } from '../models/billing/payment.ts';
import { Quote, type QuoteRecord } from '../models/billing/quote.ts';
import type { Version } from '../models/documents/original.ts';
import { findOwn, type Records } from '../models/records.ts';
import type { Id, StoredId } from '../models/tenant.ts';
import type { NumberKind } from '../rules/documents/number-kinds.ts';
import { isChangedSince } from '../rules/quotes/acceptance.ts';
import { creditNoteDocument } from './credit-note-document.ts';
import { withReferences } from './kept-references.ts';
import { type DocumentLooks, type InvoiceLooks, type QuoteLooks, STANDARD_LOOKS } from './looks.ts';
import { printableAcceptance } from './printable-acceptance.ts';
import { printableTime } from './printable-time.ts';
import { type RecordOfKind, versionOf } from './printed-content.ts';
import { invoiceDocument, type PartyDetails, quoteDocument, receiptDocument } from './stored-document.ts';

/** The account that issues the documents, with the profile that they are printed from. */
export interface Issuing {
  accountId: Id;
  account: AccountRecord;
}

export const findInvoiceDocument = printing<InvoiceRecord, InvoiceLooks>(
  Invoice,
  async (invoice, details, looks, { accountId, account }) => {
    const document = invoiceDocument(invoice, details, looks);
    if (!looks.time) return document;
    const time = printableTime(await billedTime(invoice, { accountId }, account.locale), invoice.currency);
    return time.length > 0 ? { ...document, time } : document;
  },
);

/** A quote that the client accepted on its page has the acceptance. */
export const findQuoteDocument = printing<QuoteRecord, QuoteLooks>(
  Quote,
  async (quote, details, looks, { account }) => {
    const document = quoteDocument(quote, details, looks);
    // The evidence of an acceptance that was withdrawn, or of another content, says nothing about this quote.
    if (quote.status !== 'Accepted' || quote.acceptance?.by !== 'client' || isChangedSince(quote)) return document;
    const evidence = await evidenceOf(quote);
    return evidence ? { ...document, acceptance: printableAcceptance(evidence, account.time_zone) } : document;
  },
);

export const findReceipt = printing<PaymentRecord, DocumentLooks>(Payment, receiptDocument);
export const findCreditNote = printing<CreditNoteRecord, DocumentLooks>(CreditNote, printCreditNote);

async function printCreditNote(note: CreditNoteRecord, details: PartyDetails, looks: DocumentLooks) {
  return creditNoteDocument(await withReferences(note), details, looks);
}

/** Makes the function that finds a record of this kind and prints it. It returns undefined when the id is unknown or another account's. */
function printing<Stored extends RecordOfKind[NumberKind], Looks>(
  records: Records<Stored>,
  print: (
    record: Stored,
    details: PartyDetails,
    looks: Looks,
    issuing: Issuing,
  ) => PrintableDocument | Promise<PrintableDocument>,
) {
  return async (issuing: Issuing, id: Id | StoredId, looks: Looks): Promise<PrintableDocument | undefined> => {
    const record = await findOwn(records, issuing.accountId, id);
    const details = record && (await partyDetailsOf(record, issuing));
    return record && details ? print(record, details, looks, issuing) : undefined;
  };
}

/** A version of a document that was issued, as it was printed or will be. */
export interface IssuedDocument extends Version {
  /** Returns it in the standard look, or undefined when its client is gone. */
  document: (account: AccountRecord) => Promise<PrintableDocument | undefined>;
  number: string;
}

/** Returns the issued document, `draft` for one that is not issued, undefined when the id is unknown or another account's. */
export async function findIssuedDocument<Kind extends NumberKind>(
  kind: Kind,
  accountId: Id,
  id: Id | StoredId,
): Promise<IssuedDocument | 'draft' | undefined> {
  const record = await findOwn(ISSUED[kind].records, accountId, id);
  return record ? issuedDocument(kind, accountId, record) : undefined;
}

/** Returns the issued document of a record that was read, `draft` for one that is not issued. */
export function issuedDocument<Kind extends NumberKind>(
  kind: Kind,
  accountId: Id,
  record: RecordOfKind[Kind],
): IssuedDocument | 'draft' {
  if ('status' in record && record.status === 'Draft') return 'draft';
  const { print } = ISSUED[kind];
  return {
    ...versionOf(kind, record),
    number: printedNumber(kind, record),
    async document(account) {
      const details = await partyDetailsOf(record, { accountId, account });
      return details && print(record, details);
    },
  };
}

const ISSUED: {
  readonly [Kind in NumberKind]: {
    records: Records<RecordOfKind[Kind]>;
    print: (record: RecordOfKind[Kind], details: PartyDetails) => PrintableDocument | Promise<PrintableDocument>;
  };
} = {
  // Payments and credit notes come later, and do not belong to the document that was issued.
  invoice: {
    records: Invoice,
    print: (invoice, details) =>
      invoiceDocument(
        { ...invoice, status: 'Sent', amount_paid: 0, amount_credited: 0, amount_written_off: 0, write_offs: [] },
        details,
        STANDARD_LOOKS,
      ),
  },
  quote: { records: Quote, print: (quote, details) => quoteDocument(quote, details, STANDARD_LOOKS) },
  credit_note: { records: CreditNote, print: (note, details) => printCreditNote(note, details, STANDARD_LOOKS) },
  payment: { records: Payment, print: (payment, details) => receiptDocument(payment, details, STANDARD_LOOKS) },
};

/** Returns issuer and client as they were when the document was sent. A draft has them as they are now. */
async function partyDetailsOf(record: RecordOfKind[NumberKind], { accountId, account }: Issuing) {
  if (record.parties) return detailsWith(record.parties, account);
  const client: ClientRecord | null = await findOwn(Client, accountId, record.client_id);
  // A client with documents cannot be deleted; a record restored from elsewhere may have lost it all the same.
  return client ? currentParties(account, client) : undefined;
}

/** Returns issuer and client as they are now. */
export function currentParties(account: AccountRecord, client: ClientRecord): PartyDetails {
  return detailsWith(partiesOf(account, client), account);
}

function detailsWith(parties: Parties, { time_zone, mode }: AccountRecord): PartyDetails {
  return { parties, timeZone: time_zone, isTest: mode === 'test' };
}
