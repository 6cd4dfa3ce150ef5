// What was accepted of a quote, by whom and when: a quote that was changed since is not what was agreed to.
import { createHash } from 'node:crypto';
import type { LineItem } from '../models/billing/line-item.ts';

export interface Acceptance {
  /** Who accepted: the owner of the account, or the client. */
  by: 'owner' | 'client';
  at: Date;
  /** See quoteHash. */
  hash: string;
  /** When the quote was set to another status. */
  withdrawn_at?: Date;
}

interface Agreed {
  amount: number;
  currency: string;
  tax_rate: number;
  line_items: LineItem[] | null;
  description: string | null;
}

interface MaybeAccepted extends Agreed {
  acceptance?: Acceptance | undefined;
}

/** SHA-256 of what is agreed to: amount, currency, tax rate, lines and description. */
export function quoteHash({ amount, currency, tax_rate, line_items, description }: Agreed): string {
  const lines = line_items?.map((line) => [line.description, line.qty, line.rate, line.discount]) ?? null;
  return createHash('sha256')
    .update(JSON.stringify([amount, currency, tax_rate, lines, description]))
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
