// The acceptance of a quote: who accepted it, when, and a hash of its content. A later change shows as another hash.
import { createHash } from 'node:crypto';
import { CHARGES, type DocumentCharges } from '../documents/document-charges.ts';
import type { LineItem } from '../documents/line-item.ts';
import type { EarlyPaymentDiscount } from '../money/early-payment.ts';
import type { TaxCategory } from '../taxes/tax-groups.ts';

export interface Acceptance {
  /** The party that accepted. */
  by: 'owner' | 'client';
  at: Date;
  /** The content that was accepted, see quoteHash. */
  hash: string;
  /** The time at which the quote was set to another status. */
  withdrawn_at?: Date;
}

interface Agreed extends DocumentCharges {
  amount: number;
  currency: string;
  tax_rate: number;
  tax_category?: TaxCategory | undefined;
  prices_include_tax?: boolean | undefined;
  line_items: LineItem[] | null;
  description: string | null;
  notes?: string | undefined;
  terms?: string | undefined;
  early_payment_discounts?: readonly EarlyPaymentDiscount[] | undefined;
}

interface MaybeAccepted extends Agreed {
  acceptance?: Acceptance | undefined;
}

/**
 * Returns the SHA-256 of the agreed content: amount, currency, taxes, lines, texts, discount and shipping. An absent
 * field does not count, so that a hash stays valid when Billhook adds a field.
 */
function quoteHash(quote: Agreed): string {
  const { amount, currency, tax_rate, line_items, description, tax_category, prices_include_tax } = quote;
  const lines =
    line_items?.map(({ description: text, qty, rate, discount, ...own }) => [
      ...[text, qty, rate, discount],
      ...(Object.keys(own).length > 0 ? [own.tax_rate ?? null, own.tax_category ?? null, own.unit ?? null] : []),
    ]) ?? null;
  const taxTerms = tax_category || prices_include_tax ? [tax_category ?? null, prices_include_tax ?? false] : [];
  const later = [...CHARGES, 'notes', 'terms'] as const;
  const others: unknown[][] = later.flatMap((name) =>
    quote[name] === undefined || quote[name] === null ? [] : [[name, quote[name]]],
  );
  const { early_payment_discounts: early } = quote;
  if (early?.length) others.push(['early_payment_discounts', early.map(({ days, percent }) => [days, percent])]);
  return createHash('sha256')
    .update(JSON.stringify([amount, currency, tax_rate, lines, description, ...taxTerms, ...others]))
    .digest('hex');
}

/** Returns the acceptance of the quote in its present form, as of now. */
export function acceptedBy(by: Acceptance['by'], quote: Agreed): Acceptance {
  return { by, at: new Date(), hash: quoteHash(quote) };
}

/**
 * Returns the acceptance that a change of status adds or withdraws, or nothing.
 * @param before the old status.
 * @param after the new one.
 */
export function changedAcceptance(
  quote: MaybeAccepted,
  before: string,
  after: string | undefined,
): { acceptance?: Acceptance } {
  if (after === undefined || after === before) return {};
  if (after === 'Accepted') return { acceptance: acceptedBy('owner', quote) };
  const { acceptance } = quote;
  if (!acceptance || acceptance.withdrawn_at) return {};
  return { acceptance: { ...acceptance, withdrawn_at: new Date() } };
}

/**
 * True when the content of the quote differs from what was accepted. A quote without a stored acceptance counts as
 * unchanged.
 */
export function isChangedSince({ acceptance, ...quote }: MaybeAccepted): boolean {
  return acceptance !== undefined && acceptance.hash !== quoteHash(quote);
}
