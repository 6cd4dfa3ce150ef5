// Bounds the work of what is stored to be printed, so that no stored invoice or quote is ever refused by the renderer.

import type { AccountRecord } from '../models/accounts/account.ts';
import type { ClientRecord } from '../models/accounts/client.ts';
import type { LineItem } from '../models/billing/line-item.ts';
import { requireBoundedWork, WORK_PAGES_MAX } from './document-work.ts';

/** Addresses at their longest are 10 pages of Latin letters or Han; one that takes more is made of line breaks. */
const CLIENT_PAGES_MAX = 15;
/** The issuer has bank details as well. */
const ISSUER_PAGES_MAX = 20;
/** Both change without the document and are printed on it, so it leaves room for them at their largest. */
const CONTENT_PAGES_MAX = WORK_PAGES_MAX - CLIENT_PAGES_MAX - ISSUER_PAGES_MAX;

/** @throws AppError 422 that names the estimate and the bound. */
export function requirePrintableContent(document: {
  line_items: readonly LineItem[] | null;
  description: string | null;
}): void {
  const { line_items, description } = document;
  // As stored-document.ts prints it: without lines, the description is the one line.
  const own = description ?? '';
  const lineItems = line_items ? line_items.map((line) => ({ description: line.description })) : [{ description: own }];
  requireBoundedWork(
    { lineItems, ...(line_items ? { subject: own } : {}) },
    { name: 'The text of the document', pagesMax: CONTENT_PAGES_MAX },
  );
}

type ClientTexts = Pick<ClientRecord, 'name' | 'email'> &
  Partial<Pick<ClientRecord, 'company_name' | 'address' | 'tax_id'>>;

/** @throws AppError 422 that names the estimate and the bound. */
export function requirePrintableClient({ name, email, company_name, address, tax_id }: ClientTexts): void {
  requireBoundedWork(
    {
      clientName: name,
      clientEmail: email,
      clientCompany: company_name ?? '',
      clientAddress: address ?? '',
      clientTaxId: tax_id ?? '',
    },
    { name: 'The name and address of the client', pagesMax: CLIENT_PAGES_MAX },
  );
}

type IssuerTexts = {
  [Name in 'name' | 'email' | 'company' | 'address' | 'tax_id' | 'bank_details']?: AccountRecord[Name];
};

/** @throws AppError 422 that names the estimate and the bound. */
export function requirePrintableIssuer(account: IssuerTexts): void {
  requireBoundedWork(
    {
      partnerName: account.name ?? '',
      partnerEmail: account.email ?? '',
      partnerCompany: account.company ?? '',
      partnerAddress: account.address ?? '',
      partnerTaxId: account.tax_id ?? '',
      bankDetails: account.bank_details ?? '',
    },
    { name: 'The profile of the account', pagesMax: ISSUER_PAGES_MAX },
  );
}
