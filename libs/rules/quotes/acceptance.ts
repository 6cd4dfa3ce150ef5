// What was accepted of a quote, by whom and when: a quote that was changed since is not what was agreed to.
import { createHash } from 'node:crypto';
import { CHARGES, type DocumentCharges } from '../documents/document-charges.ts';
import type { LineItem } from '../documents/line-item.ts';
import type { TaxCategory } from '../taxes/tax-groups.ts';

export interface Acceptance {
  /** Who accepted: the owner of the account, or the client. */
  by: 'owner' | 'client';
  at: Date;
  /** See quoteHash. */
  hash: string;
  /** When the quote was set to another status. */
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
}

interface MaybeAccepted extends Agreed {
  acceptance?: Acceptance | undefined;
}

/** SHA-256 of what is agreed to: amount, currency, taxes, lines, texts, discount and shipping. What is absent does not count, as before it existed. */
function quoteHash(quote: Agreed): string {
  const { amount, currency, tax_rate, line_items, description, tax_category, prices_include_tax } = quote;
  const lines =
    line_items?.map(({ description: text, qty, rate, discount, ...own }) => [
      ...[text, qty, rate, discount],
      ...(Object.keys(own).length > 0 ? [own.tax_rate ?? null, own.tax_category ?? null, own.unit ?? null] : []),
    ]) ?? null;
  const taxTerms = tax_category || prices_include_tax ? [tax_category ?? null, prices_include_tax ?? false] : [];
  const later = [...CHARGES, 'notes', 'terms'] as const;
  const others = later.flatMap((name) =>
    quote[name] === undefined || quote[name] === null ? [] : [[name, quote[name]]],
  );
  return createHash('sha256')
    .update(JSON.stringify([amount, currency, tax_rate, lines, description, ...taxTerms, ...others]))
    .digest('hex');
}

export function acceptedBy(by: Acceptance['by'], quote: Agreed): Acceptance {
  return { by, at: new Date(), hash: quoteHash(quote) };
}

/** @param before and after the status. @returns what a change of status makes of the acceptance; nothing when it changes none. */
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

/** True when the quote is not what was accepted any more. A quote that was accepted before acceptances were kept counts as unchanged. */
export function isChangedSince({ acceptance, ...quote }: MaybeAccepted): boolean {
  return acceptance !== undefined && acceptance.hash !== quoteHash(quote);
}
