// Bounds the work of what is stored to be printed, so that the renderer never rejects a stored invoice or quote.

import { type PostalAddress, printedAddress } from '../../identifiers/postal-address.ts';
import type { AccountRecord } from '../../models/accounts/account.ts';
import type { ClientRecord } from '../../models/accounts/client.ts';
import { type PaymentOption, printedBankDetails } from '../../models/accounts/party-fields.ts';
import { requireBoundedWork, WORK_PAGES_MAX } from '../../rules/documents/layout-work.ts';
import type { LineItem } from '../../rules/documents/line-item.ts';

/** Addresses at their longest are 10 pages of Latin letters or Han; one that takes more is made of line breaks. */
const CLIENT_PAGES_MAX = 15;
/** The issuer has bank details as well. */
const ISSUER_PAGES_MAX = 20;
/** The name of the country counts, too. */
const ANY_COUNTRY = { locale: 'en' };
/** Both change without the document and are printed on it, so it leaves room for them at their largest. */
const CONTENT_PAGES_MAX = WORK_PAGES_MAX - CLIENT_PAGES_MAX - ISSUER_PAGES_MAX;

/** @throws AppError 422 that names the estimate and the bound. */
export function requirePrintableContent(document: {
  line_items: readonly LineItem[] | null;
  description: string | null;
  notes?: string | undefined;
  terms?: string | undefined;
}): void {
  const { line_items, description, notes = '', terms = '' } = document;
  // As stored-document.ts prints it: without lines, the description is the one line.
  const own = description ?? '';
  const lineItems = line_items ? line_items.map((line) => ({ description: line.description })) : [{ description: own }];
  requireBoundedWork(
    { lineItems, ...(line_items ? { subject: own } : {}), notes, terms },
    { name: 'The text of the document', pagesMax: CONTENT_PAGES_MAX },
  );
}

type ClientTexts = Pick<ClientRecord, 'name' | 'email'> &
  Partial<Pick<ClientRecord, 'company_name' | 'address' | 'postal_address' | 'tax_id' | 'vat_id' | 'buyer_reference'>>;

/** @throws AppError 422 that names the estimate and the bound. */
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
    { name: 'The name and address of the client', pagesMax: CLIENT_PAGES_MAX },
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

/** @throws AppError 422 that names the estimate and the bound. */
export function requirePrintableIssuer(account: IssuerTexts): void {
  requireBoundedWork(
    {
      ...Object.fromEntries(ISSUER_TEXTS.map((name) => [name, account[name] ?? ''])),
      address: printedAddress(account, ANY_COUNTRY) ?? '',
      bankDetails: printedBankDetails(account),
    },
    { name: 'The profile of the account', pagesMax: ISSUER_PAGES_MAX },
  );
}
