// The look of a stored document: what a caller may choose when it is printed.
import type { PageSize } from '../jobs/printable-document.ts';

export interface DocumentLooks {
  /** The size of the paper, by default the usual one of the locale. */
  size?: PageSize;
  style: 'elegant' | 'modern' | 'classic';
  layout: 'standard' | 'overlay';
  banner: boolean;
  accessible: boolean;
  /** A BCP 47 tag, by default that of the account. */
  locale?: string;
}

export interface InvoiceLooks extends DocumentLooks {
  /** True when the hours behind each line are printed. */
  time: boolean;
}

export interface QuoteLooks extends DocumentLooks {
  /** True when a block for the signature of the client is printed. */
  signature: boolean;
}

/** The look of originals, and of every document whose caller chooses nothing. */
export const STANDARD_LOOKS = {
  style: 'elegant',
  layout: 'standard',
  banner: true,
  accessible: false,
  time: false,
  signature: false,
} as const satisfies InvoiceLooks & QuoteLooks;

/** True for the look of originals. */
export function isStandardLook(looks: DocumentLooks & Partial<InvoiceLooks & QuoteLooks>): boolean {
  const { size, locale, ...others } = looks;
  const isStandard = (name: keyof typeof others) => others[name] === STANDARD_LOOKS[name];
  return (
    size === undefined && locale === undefined && (Object.keys(others) as (keyof typeof others)[]).every(isStandard)
  );
}
