// Bounds the work of printing when texts are stored, so that the renderer never rejects a stored invoice or quote.

import { type PostalAddress, printedAddress } from '../../identifiers/postal-address.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import { requireBoundedWork, WORK_PAGES_MAX } from '../../rules/documents/layout-work.ts';
import type { LineItem } from '../../rules/documents/line-item.ts';
import type { PaymentOption } from '../../rules/paying/payment-options.ts';
import { paymentTexts } from '../../rules/paying/ways-to-pay.ts';

/**
 * The pages of a client. The longest addresses are 10 pages of Latin letters or Han; one that takes more consists of
 * line breaks.
 */
const CLIENT_PAGES_MAX = 15;
/** The pages of an issuer, who has bank details as well. */
const ISSUER_PAGES_MAX = 20;
/** A locale for addresses, because the name of the country counts, too. */
const ANY_COUNTRY = { locale: 'en' };
/**
 * The pages of a document's own texts. Client and issuer change without the document, so it leaves room for the
 * largest.
 */
const CONTENT_PAGES_MAX = WORK_PAGES_MAX - CLIENT_PAGES_MAX - ISSUER_PAGES_MAX;

/** Checks the texts of a document. @throws AppError 422 that names the estimate and the bound. */
export function requirePrintableContent(document: {
  line_items: readonly LineItem[] | null;
  description: string | null;
  notes?: string | undefined;
  terms?: string | undefined;
}): void {
  const { line_items, description, notes = '', terms = '' } = document;
  // stored-document.ts prints it like this: a document without lines has its description as the one line.
  const own = description ?? '';
  const lineItems = line_items ? line_items.map((line) => ({ description: line.description })) : [{ description: own }];
  requireBoundedWork(
    { lineItems, ...(line_items ? { subject: own } : {}), notes, terms },
    { code: 'document_texts_too_long', pagesMax: CONTENT_PAGES_MAX },
  );
}

type ClientTexts = Pick<ClientRecord, 'name' | 'email'> &
  Partial<Pick<ClientRecord, 'company_name' | 'address' | 'postal_address' | 'tax_id' | 'vat_id' | 'buyer_reference'>>;

/** Checks the texts of a client. @throws AppError 422 that names the estimate and the bound. */
export function requirePrintableClient(client: ClientTexts): void {
  const { name, email, company_name, tax_id, vat_id, buyer_reference } = client;
  requireBoundedWork(
    {
      clientName: name,
      clientEmail: email,
      clientCompany: company_name ?? '',
      clientAddress: printedAddress(client, ANY_COUNTRY) ?? '',
      clientTaxId: tax_id ?? '',
      clientVatId: vat_id ?? '',
      buyerReference: buyer_reference ?? '',
    },
    { code: 'client_texts_too_long', pagesMax: CLIENT_PAGES_MAX },
  );
}

type IssuerTexts = {
  [Name in (typeof ISSUER_TEXTS)[number] | 'address' | 'bank_details']?: AccountRecord[Name];
} & { postal_address?: PostalAddress | null; payment_options?: PaymentOption[] | null };

const ISSUER_TEXTS = [
  'name',
  'email',
  'company',
  'legal_name',
  'tax_id',
  'vat_id',
  'tax_number',
  'legal_note',
  'tax_exemption_note',
  'phone',
] as const;

/** Checks the texts of an issuer. @throws AppError 422 that names the estimate and the bound. */
export function requirePrintableIssuer(account: IssuerTexts): void {
  requireBoundedWork(
    {
      ...Object.fromEntries(ISSUER_TEXTS.map((name) => [name, account[name] ?? ''])),
      address: printedAddress(account, ANY_COUNTRY) ?? '',
      bankDetails: paymentTexts(account),
    },
    { code: 'account_texts_too_long', pagesMax: ISSUER_PAGES_MAX },
  );
}
