// The texts that are printed below the sum of an invoice or a quote.

import { text } from '#libs/input/kinds.ts';
import type { DocumentTexts } from '#libs/models/billing/document-fields.ts';

export interface TextsInput {
  notes?: string | null;
  terms?: string | null;
}

export const textsInput = {
  notes: text().allow(null, '').description('Printed below the sum'),
  terms: text().allow(null, '').description('Printed below the notes'),
};

/** Those that a body names, as they are stored: an empty one is taken back. */
export function givenTexts({ notes, terms }: TextsInput): DocumentTexts {
  return {
    ...(notes === undefined ? {} : { notes: notes || undefined }),
    ...(terms === undefined ? {} : { terms: terms || undefined }),
  };
}

/** True of a change of anything whose length counts on paper. */
export function isPrintedTextIn(content: object): boolean {
  return ['line_items', 'description', 'notes', 'terms'].some((name) => name in content);
}
