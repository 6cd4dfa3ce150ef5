// What a change of an invoice or a quote makes of its tax terms, and whether a reverse charge may stand on it.
import type { DetailsForm } from '../../errors.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { Client } from '../../models/accounts/client.ts';
import type { DocumentRecord } from '../../models/billing/document-fields.ts';
import { findOwn } from '../../models/records.ts';
import type { Id } from '../../models/tenant.ts';
import { CHARGES } from '../../rules/documents/document-charges.ts';
import { newTaxTerms, reverseChargeProblem, type TaxIssuer, taxesOf } from '../../rules/taxes/document-taxes.ts';
import type { TaxCategory } from '../../rules/taxes/tax-groups.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { currencyFor } from './client-terms.ts';

type Where = Pick<UnitOfWork, 'accountId' | 'session'>;

const MONEY = ['amount', 'currency', 'tax_rate', 'line_items', 'prices_include_tax', ...CHARGES] as const;

/** What a PATCH may name. */
type Named = { client_id?: unknown } & { [Name in (typeof MONEY)[number]]?: unknown };

/** True when amounts are computed anew; another client may have another tax treatment. */
export function isTaxed(changes: Named): boolean {
  return changes.client_id !== undefined || isMoneyChanged(changes);
}

export function isMoneyChanged(changes: Named): boolean {
  return MONEY.some((name) => name in changes);
}

export interface ChangedTerms {
  currency: string;
  tax_rate: number;
  tax_category: TaxCategory | undefined;
  issuer: TaxIssuer;
}

/** @param change null as the rate or the currency is what a new document has; another client brings another category. */
export async function changedTaxTerms(
  { accountId, session }: Where,
  document: Pick<DocumentRecord, 'client_id' | 'currency' | 'tax_rate' | 'tax_category'>,
  { tax_rate, currency, client_id }: { tax_rate?: number | null; currency?: string | null; client_id?: Id },
): Promise<ChangedTerms> {
  const issuer = await readAccount(accountId, session);
  const terms = {
    currency: currency ?? document.currency,
    tax_rate: tax_rate ?? document.tax_rate,
    tax_category: document.tax_category,
    issuer,
  };
  if (tax_rate !== null && currency !== null && client_id === undefined) return terms;
  // An unknown client is rejected elsewhere, see requireReferences.
  const client = (await findOwn(Client, accountId, client_id ?? document.client_id, session)) ?? {};
  if (currency === null) terms.currency = currencyFor(client, issuer);
  if (tax_rate !== null && client_id === undefined) return terms;
  return { ...terms, ...newTaxTerms(tax_rate === undefined ? document.tax_rate : tax_rate, client, issuer) };
}

/** @throws AppError 400 for a reverse charge of which one side has no tax id. */
export async function requireTaxpayers(
  { accountId, session }: Where,
  document: Pick<DocumentRecord, 'client_id' | 'amount' | 'tax_amount' | 'tax_rate' | 'taxes'>,
  details?: DetailsForm,
): Promise<void> {
  if (!taxesOf(document).some(({ category }) => category === 'AE')) return;
  const account = await readAccount(accountId, session);
  const client = await findOwn(Client, accountId, document.client_id, session);
  const problem = reverseChargeProblem(document, { client: client ?? {}, account }, details);
  if (problem) throw problem;
}
