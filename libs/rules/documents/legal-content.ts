// The fields that the law of the issuer's country wants on an invoice. It may be issued without them: the caller is
// told what is missing.
import { type Problem, problemOf } from '../../errors.ts';
import { toMinor } from '../money/money.ts';
import { type TaxedDocument, taxesOf } from '../taxes/document-taxes.ts';
import type { LineItem } from './line-item.ts';

/** The fields, by the name under which a caller finds them. Others may stand in for some: see FILLED. */
type Field =
  | 'account.postal_address'
  | 'account.tax_number'
  | 'account.vat_id'
  | 'account.legal_id'
  | 'client.postal_address'
  | 'service_date'
  | 'description';

interface CountryRules {
  /** The source of each rule. */
  wants: Partial<Record<Field, string>>;
  /** Fields that only an invoice with tax needs. */
  onlyTaxed: readonly Field[];
  /** A small invoice needs fewer fields. The limit is the total with tax, in major units. */
  small: { upTo: number; currency: string; without: readonly Field[] };
}

/** Council Directive 2006/112/EC, Articles 226, and 220a and 226b for small invoices. */
const EU: CountryRules = {
  wants: {
    'account.postal_address': 'Directive 2006/112/EC, Article 226(5)',
    'account.vat_id': 'Directive 2006/112/EC, Article 226(3)',
    'client.postal_address': 'Directive 2006/112/EC, Article 226(5)',
    description: 'Directive 2006/112/EC, Article 226(6)',
  },
  onlyTaxed: ['account.vat_id'],
  small: { upTo: 100, currency: 'EUR', without: ['account.postal_address', 'client.postal_address'] },
};

/** The members of the EU without rules of their own below. */
const EU_MEMBERS = 'BE BG CY CZ DK EE ES FI GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ');

const RULES: Readonly<Record<string, CountryRules>> = {
  ...Object.fromEntries(EU_MEMBERS.map((country) => [country, EU])),
  /** § 11(1) and (6) UStG (Austria), which want the day of supply even when it is that of the invoice. */
  AT: {
    wants: {
      'account.postal_address': '§ 11(1) No. 3 a UStG',
      'account.vat_id': '§ 11(1) No. 3 i UStG',
      'client.postal_address': '§ 11(1) No. 3 b UStG',
      description: '§ 11(1) No. 3 c UStG',
      service_date: '§ 11(1) No. 3 d UStG',
    },
    onlyTaxed: ['account.vat_id'],
    small: { upTo: 400, currency: 'EUR', without: ['account.vat_id', 'client.postal_address'] },
  },
  /** § 14(4) UStG, and §§ 33 and 34a UStDV for small invoices and small businesses. */
  DE: {
    wants: {
      'account.postal_address': '§ 14(4) No. 1 UStG',
      'account.tax_number': '§ 14(4) No. 2 UStG',
      'client.postal_address': '§ 14(4) No. 1 UStG',
      description: '§ 14(4) No. 5 UStG',
      service_date: '§ 14(4) No. 6 UStG',
    },
    onlyTaxed: [],
    small: { upTo: 250, currency: 'EUR', without: ['account.tax_number', 'client.postal_address', 'service_date'] },
  },
  /** The directive, and the number of the register of companies. */
  FR: {
    ...EU,
    wants: { ...EU.wants, 'account.legal_id': 'Code de commerce, Article R123-237' },
  },
  /** Value Added Tax Regulations 1995, regulations 14(1) and 16: for invoices with tax. */
  GB: {
    wants: {
      'account.postal_address': 'VAT Regulations 1995, regulation 14(1)(d)',
      'account.vat_id': 'VAT Regulations 1995, regulation 14(1)(d)',
      'client.postal_address': 'VAT Regulations 1995, regulation 14(1)(e)',
      description: 'VAT Regulations 1995, regulation 14(1)(g)',
      service_date: 'VAT Regulations 1995, regulation 14(1)(b)',
    },
    onlyTaxed: ['account.postal_address', 'account.vat_id', 'client.postal_address', 'description', 'service_date'],
    small: { upTo: 250, currency: 'GBP', without: ['client.postal_address'] },
  },
  /** Article 26(2) MWSTG, and Article 57 MWSTV for small invoices: for invoices with tax. */
  CH: {
    wants: {
      'account.postal_address': 'Article 26(2)(a) MWSTG',
      'account.vat_id': 'Article 26(2)(a) MWSTG',
      'client.postal_address': 'Article 26(2)(b) MWSTG',
      description: 'Article 26(2)(d) MWSTG',
    },
    onlyTaxed: ['account.postal_address', 'account.vat_id', 'client.postal_address', 'description'],
    small: { upTo: 400, currency: 'CHF', without: ['client.postal_address'] },
  },
};

type Maybe<Value> = Value | null | undefined;

interface Postal {
  line1?: string;
  line2?: string;
  line3?: string;
  postal_code?: string;
  city?: string;
  /** An ISO 3166-1 code. */
  country?: string;
}

interface Party {
  address?: Maybe<string>;
  /** An Object in the record of an account, which mongoose leaves untyped. */
  postal_address?: unknown;
}

interface Issuer extends Party {
  tax_id?: Maybe<string>;
  vat_id?: Maybe<string>;
  tax_number?: Maybe<string>;
  legal_id?: unknown;
}

interface IssuedInvoice extends TaxedDocument {
  currency: string;
  line_items: readonly LineItem[] | null;
  description: string | null;
  service_date?: string | undefined;
  service_period?: object | undefined;
}

interface Issued {
  account: Issuer;
  client: Party;
  invoice: IssuedInvoice;
}

const FILLED: Readonly<Record<Field, (issued: Issued) => boolean>> = {
  'account.postal_address': ({ account }) => hasAddress(account),
  'account.tax_number': ({ account }) => Boolean(account.tax_number || account.vat_id || account.tax_id),
  'account.vat_id': ({ account }) => Boolean(account.vat_id || account.tax_id),
  'account.legal_id': ({ account }) => Boolean(account.legal_id),
  'client.postal_address': ({ client }) => hasAddress(client),
  service_date: ({ invoice }) => Boolean(invoice.service_date || invoice.service_period),
  description: ({ invoice }) => Boolean(invoice.line_items?.length || invoice.description),
};

/**
 * Returns what the law of the account's country wants on this invoice and is missing, with the source of each rule.
 * An account without a structured address names no country, and a country without rules here wants nothing.
 */
export function missingByLaw(issued: Issued): Problem[] {
  const country = postalOf(issued.account)?.country;
  const rules = country === undefined ? undefined : RULES[country];
  if (!country || !rules) return [];
  const missing = (Object.entries(rules.wants) as [Field, string][]).filter(
    ([field]) => isWanted(field, rules, issued.invoice) && !FILLED[field](issued),
  );
  return missing.map(([field, source]) => problemOf(field, 'required_by_law', { country, source }));
}

function isWanted(field: Field, { onlyTaxed, small }: CountryRules, invoice: IssuedInvoice): boolean {
  const taxes = taxesOf(invoice);
  if (onlyTaxed.includes(field) && !taxes.some(({ tax }) => tax !== 0)) return false;
  // A small business need not say when it worked: Article 226 does not hold for it.
  if (field === 'service_date' && taxes.every(({ category }) => category === 'E')) return false;
  // An invoice whose client owes the tax is never a small one.
  const isSmall =
    invoice.currency === small.currency &&
    invoice.amount + invoice.tax_amount <= toMinor(small.upTo, small.currency) &&
    !taxes.some(({ category }) => category === 'AE' || category === 'K');
  return !isSmall || !small.without.includes(field);
}

function hasAddress(party: Party): boolean {
  if (party.address) return true;
  const { line1, line2, line3, city, postal_code } = postalOf(party) ?? {};
  return Boolean((line1 || line2 || line3) && (city || postal_code));
}

function postalOf({ postal_address }: Party): Postal | undefined {
  return (postal_address as Maybe<Postal>) ?? undefined;
}
