// The taxes of a document as they are stored, shown and printed: one entry per rate and category, with the reason where
// there is no tax.
import { type AppError, type DetailsForm, problemOf, validationFailed } from '../../errors.ts';
import { intlLocale } from '../../profile-forms.ts';
import { fromMinor } from '../money/money.ts';
import type { TotalRounding } from '../money/total-rounding.ts';
import type { TaxCategory, TaxGroup } from './tax-groups.ts';
import { taxNote } from './tax-notes.ts';

export interface DocumentTax extends TaxGroup {
  /** The reason for charging no tax. */
  note?: string;
}

/** The fields of the account that decide about the notes. */
export interface TaxIssuer extends TotalRounding {
  /** The locale of the account, BCP 47. */
  locale: string;
  tax_exemption_note?: string | null | undefined;
}

/** The treatments of a client, which decide about the taxes of its new documents. */
export const TAX_TREATMENTS = ['standard', 'reverse_charge', 'exempt', 'export'] as const;

export type TaxTreatment = (typeof TAX_TREATMENTS)[number];

const CATEGORY_OF = { standard: undefined, reverse_charge: 'AE', exempt: 'E', export: 'G' } as const;

/**
 * Returns the taxes with the reasons of those without tax. The account's own text replaces the reason of category E.
 */
export function notedTaxes(taxes: readonly TaxGroup[], { locale, tax_exemption_note }: TaxIssuer): DocumentTax[] {
  const language = languageOf(locale);
  return taxes.map(({ rate, category, taxable, tax }) => {
    const own = category === 'E' ? tax_exemption_note : undefined;
    const note = own || taxNote(category, language);
    return { rate, category, taxable, tax, ...(note ? { note } : {}) };
  });
}

export interface TaxedDocument {
  amount: number;
  tax_amount: number;
  tax_rate: number;
  taxes?: readonly DocumentTax[] | undefined;
}

/** Returns the taxes of a stored document. One that stores none (a plain or old one) has the single tax of its rate. */
export function taxesOf({ amount, tax_amount, tax_rate, taxes }: TaxedDocument): readonly DocumentTax[] {
  return taxes ?? [{ rate: tax_rate, category: tax_rate > 0 ? 'S' : null, taxable: amount, tax: tax_amount }];
}

/** Returns the taxes in the form of the API. */
export function taxesView(document: TaxedDocument & { currency: string }) {
  return taxesOf(document).map(({ rate, category, taxable, tax, note }) => ({
    rate,
    category,
    taxable: fromMinor(taxable, document.currency),
    tax: fromMinor(tax, document.currency),
    note: note ?? null,
  }));
}

export interface NewTaxTerms {
  tax_rate: number;
  tax_category: TaxCategory | undefined;
}

/**
 * Returns rate and category of a new document.
 * @param given the caller's rate. If it is absent, the client's treatment decides.
 */
export function newTaxTerms(
  given: number | null | undefined,
  client: { tax_treatment?: TaxTreatment | null | undefined },
  account: { default_tax_rate?: number | null | undefined; tax_exemption_note?: string | null | undefined },
): NewTaxTerms {
  const category = CATEGORY_OF[client.tax_treatment ?? 'standard'];
  return {
    tax_rate: given ?? (category ? 0 : (account.default_tax_rate ?? 0)),
    // An account with an exemption note is a small business, so that note is the reason wherever the rate is 0.
    tax_category: category ?? (account.tax_exemption_note ? 'E' : undefined),
  };
}

/** The tax ids of a party. EN 16931 wants one of them, of any kind, from both parties of a reverse charge. */
interface Taxpayer {
  tax_id?: string | null | undefined;
  vat_id?: string | null | undefined;
}

/** Returns the 400 for a reverse charge in which one of the parties has no tax id, or undefined. */
export function reverseChargeProblem(
  document: TaxedDocument,
  { client, account }: { client: Taxpayer; account: Taxpayer },
  details?: DetailsForm,
): AppError | undefined {
  if (!taxesOf(document).some(({ category }) => category === 'AE')) return undefined;
  const withoutTaxId = Object.entries({ client, account }).filter(([, party]) => !party.vat_id && !party.tax_id);
  if (withoutTaxId.length === 0) return undefined;
  const problems = withoutTaxId.map(([party]) => problemOf('client_id', 'tax_id_missing', { party }));
  return validationFailed(problems, details);
}

/** Returns the ISO 639-1 language of a locale. @param locale BCP 47. */
export function languageOf(locale: string): string {
  return new Intl.Locale(intlLocale(locale)).language;
}
