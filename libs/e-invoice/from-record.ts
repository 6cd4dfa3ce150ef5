// A stored invoice or credit note in the terms of EN 16931. This is the only file here that knows records.
import { readVatId } from '../identifiers/vat-id.ts';
import type { CreditNoteRecord } from '../models/billing/credit-note.ts';
import type { InvoiceRecord } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import type { Parties } from '../models/billing/parties.ts';
import { bankAccountOf } from '../rules/paying/payment-options.ts';
import { moneyOf } from './money-of-document.ts';
import type { EInvoice, Party, Payment, Preceding, Seller } from './terms.ts';

export interface Surroundings {
  parties: Parties;
  /** The name of the project, if the document has one. */
  project?: string | undefined;
  /** The day of a document that is not issued. */
  today: string;
  /** True for a document of a test account. */
  isTest?: boolean | undefined;
}

/** EN 16931 has no field for it, so that a person reads it where a program shows the note. */
const TEST_MARK = 'TEST';

/** Returns the invoice as it was issued: what was paid later is not part of it. @throws ThreeDecimals. */
export function invoiceTerms(invoice: InvoiceRecord, { parties, project, today, isTest }: Surroundings): EInvoice {
  const number = printedNumber('invoice', invoice);
  const { issuer, client } = parties;
  const issuedOn = invoice.issue_date ?? today;
  const period = invoice.service_period && { from: invoice.service_period.from, to: invoice.service_period.to };
  const deliveredOn = invoice.service_date ?? period?.to ?? issuedOn;
  const money = moneyOf(invoice, invoice.description ?? number);
  return {
    number,
    issuedOn,
    type: invoice.corrects ? '384' : '380',
    currency: invoice.currency,
    dueOn: invoice.due_date,
    buyerReference: invoice.buyer_reference ?? client.buyer_reference,
    project,
    contract: invoice.contract_reference,
    order: invoice.order_reference,
    note: noteOf(isTest && TEST_MARK, invoice.line_items ? invoice.description : null, invoice.notes, invoice.terms),
    preceding: precedingOf(invoice),
    seller: sellerOf(issuer),
    buyer: buyerOf(client),
    deliveredOn,
    deliveryCountry: goodsCountry(money, client),
    period,
    payment: paymentOf(issuer, invoice.currency, number),
    paymentTerms: paymentTermsOf(invoice),
    ...money,
  };
}

/** Returns the credit note with positive amounts: its type says that they are credited. @throws as invoiceTerms. */
export function creditNoteTerms(note: CreditNoteRecord, { parties, project, isTest }: Surroundings): EInvoice {
  const number = printedNumber('credit_note', note);
  const { issuer, client } = parties;
  const money = moneyOf(note, note.description ?? note.invoice_number);
  return {
    number,
    issuedOn: note.issued_on,
    type: '381',
    currency: note.currency,
    dueOn: note.issued_on,
    buyerReference: note.buyer_reference ?? client.buyer_reference,
    project,
    contract: note.contract_reference,
    order: note.order_reference,
    note: noteOf(isTest && TEST_MARK, note.line_items ? note.description : null),
    preceding: [{ number: note.invoice_number, issuedOn: note.invoice_issued_on }],
    seller: sellerOf(issuer),
    buyer: buyerOf(client),
    deliveredOn: note.issued_on,
    deliveryCountry: goodsCountry(money, client),
    // It is cleared against what the client owes (UNCL 4461).
    payment: { means: '97', reference: number },
    ...money,
  };
}

/** Returns the invoice that it corrects, and those that a final invoice takes off. */
function precedingOf({ corrects_number, corrects_issued_on, quote_deducted = [] }: InvoiceRecord): Preceding[] {
  const corrected = corrects_number ? [{ number: corrects_number, issuedOn: corrects_issued_on }] : [];
  const parts = quote_deducted.filter(({ amount }) => amount !== 0);
  return [...corrected, ...parts.map(({ number, issued_on }) => ({ number, issuedOn: issued_on }))];
}

function noteOf(...texts: (string | false | null | undefined)[]): string | undefined {
  // Peppol allows one note.
  return texts.filter(Boolean).join('\n') || undefined;
}

function sellerOf(issuer: Parties['issuer']): Seller {
  const name = issuer.legal_name ?? issuer.company ?? issuer.name;
  const { vatId, taxNumber } = taxIdsOf(issuer);
  const legalId = issuer.legal_id;
  return {
    name,
    tradingName: issuer.company && issuer.company !== name ? issuer.company : undefined,
    // A small business has neither a VAT id nor an entry in a register, and some identifier has to be there (BR-CO-26).
    id: vatId || legalId ? undefined : taxNumber,
    legalId,
    vatId,
    taxNumber,
    legalNote: issuer.legal_note,
    electronicAddress: addressOf(issuer),
    address: issuer.postal_address,
    contact: { name: issuer.name, phone: issuer.phone, email: issuer.email },
  };
}

function buyerOf(client: Parties['client']): Party {
  const name = client.company_name ?? client.name;
  return {
    name,
    legalId: client.legal_id,
    vatId: taxIdsOf(client).vatId,
    electronicAddress: addressOf(client),
    address: client.postal_address,
    contact: { name: client.name, phone: client.phone, email: client.email },
  };
}

/** Returns both tax numbers. A free tax id counts as a VAT id if it has the form of one, else as the number at the tax office. */
function taxIdsOf({ vat_id, tax_number, tax_id }: { vat_id?: string; tax_number?: string; tax_id?: string }) {
  const read = tax_id ? readVatId(tax_id).id : undefined;
  return { vatId: vat_id ?? read, taxNumber: tax_number ?? (read ? undefined : tax_id) };
}

/** Returns the electronic address of a party, or its e-mail address, which XRechnung accepts and Peppol does not. */
function addressOf(party: { electronic_address?: { scheme: string; value: string }; email?: string }) {
  return party.electronic_address ?? (party.email ? { scheme: 'EM', value: party.email } : undefined);
}

/** Returns the country that goods go to, which supplies within the EU and exports name. */
function goodsCountry({ taxes }: Pick<EInvoice, 'taxes'>, { postal_address }: Parties['client']): string | undefined {
  const areGoods = taxes.some(({ category }) => category === 'K' || category === 'G');
  return areGoods ? postal_address?.country : undefined;
}

/** Writes discounts for early payment in the notation of XRechnung that programs read: a line for each, with a line break after it (BR-DE-18). */
function paymentTermsOf({ early_payment_discounts }: InvoiceRecord): string | undefined {
  const lines = early_payment_discounts?.map(
    ({ days, percent }) => `#SKONTO#TAGE=${days}#PROZENT=${percent.toFixed(2)}#\n`,
  );
  return lines?.join('');
}

const SEPA_TRANSFER = '58';
const TRANSFER = '30';
const NOT_DEFINED = '1';

function paymentOf(issuer: Parties['issuer'], currency: string, reference: string): Payment | undefined {
  const account = bankAccountOf(issuer);
  if (account) return { means: currency === 'EUR' ? SEPA_TRANSFER : TRANSFER, reference, ...account };
  const { payment_options = [], bank_details } = issuer;
  return payment_options.length > 0 || bank_details ? { means: NOT_DEFINED, reference } : undefined;
}
