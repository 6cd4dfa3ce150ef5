// The classes of amounts that do not fit a phone in the usual size or beside their labels.

/** The most characters of a sum in its large size, in 320 pixels. */
const SUM_FITS = 13;
/** The most characters of an amount beside a label of one long word, in 320 pixels. */
const TOTAL_FITS = 11;

/** Returns the class of a sum. A long one is smaller, because a line break within a number is read as another number. */
export function sumClass(amount: string): string {
  return amount.length > SUM_FITS ? 'sum long' : 'sum';
}

/** Returns the class of a list of amounts. A phone shows long ones below their labels. */
export function totalsClass(amounts: readonly string[]): string {
  return amounts.some(({ length }) => length > TOTAL_FITS) ? 'totals long' : 'totals';
}
