// The tax terms of an invoice or a quote after a change, and the check of a reverse charge.
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

/** The fields that a PATCH may name. */
type Named = { client_id?: unknown } & { [Name in (typeof MONEY)[number]]?: unknown };

/** True when amounts are computed anew. Another client may have another tax treatment. */
export function isTaxed(changes: Named): boolean {
  return changes.client_id !== undefined || isMoneyChanged(changes);
}

/** True when the change names a field that amounts are computed from. */
export function isMoneyChanged(changes: Named): boolean {
  return MONEY.some((name) => name in changes);
}

export interface ChangedTerms {
  currency: string;
  tax_rate: number;
  tax_category: TaxCategory | undefined;
  issuer: TaxIssuer;
}

/**
 * Returns the changed terms.
 * @param change a rate or currency of null stands for that of a new document. Another client brings another category.
 */
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
  // requireReferences rejects an unknown client.
  const client = (await findOwn(Client, accountId, client_id ?? document.client_id, session)) ?? {};
  if (currency === null) terms.currency = currencyFor(client, issuer);
  if (tax_rate !== null && client_id === undefined) return terms;
  return { ...terms, ...newTaxTerms(tax_rate === undefined ? document.tax_rate : tax_rate, client, issuer) };
}

/** Checks the parties of a reverse charge. @throws AppError 400 when one of them has no tax id. */
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
