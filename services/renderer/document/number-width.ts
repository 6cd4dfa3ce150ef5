// Estimates the printed width of a number as a close upper bound, measured on printed pages of each style.
import type { DocumentView } from './document-view.ts';

/** Widths in rem. A capital stands for every character that is not listed, such as a currency sign. */
const WIDTHS = {
  elegant: { digit: 0.5, mark: 0.33, letter: 0.57, capital: 0.82, wide: 1 },
  modern: { digit: 0.59, mark: 0.27, letter: 0.56, capital: 0.72, wide: 1 },
  classic: { digit: 0.5, mark: 0.23, letter: 0.47, capital: 0.72, wide: 1 },
} as const;

const KINDS = [
  ['digit', /^[\d$\u2212\u0660-\u0669\u06f0-\u06f9]$/],
  ['mark', /^[\s.,:;'’\-/()\u00a0\u066b\u066c]$/],
  ['letter', /^[a-z\u00df-\u00ff\u0600-\u06ff]$/],
  ['wide', /^[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]$/],
] as const;

export function numberWidth(text: string, style: DocumentView['style']): number {
  let width = 0;
  for (const character of text) width += WIDTHS[style][kindOf(character)];
  return width;
}

function kindOf(character: string) {
  return KINDS.find(([, pattern]) => pattern.test(character))?.[0] ?? 'capital';
}
