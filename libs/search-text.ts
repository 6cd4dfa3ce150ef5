// Normalises text for searches: folds case, accents and other spelling differences.
import { deburr } from 'es-toolkit/string/deburr';

/** Accents of Latin, Greek and Cyrillic letters. Vowel signs of other scripts stay, because they change the word. */
const ACCENTS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/g;

/**
 * Folds a text for searches: José and jose, Straße and strasse, Łódź and lodz, full-width and normal, composed and
 * decomposed letters become equal. Stored search fields must be made by this function, too.
 */
export function searchText(text: string): string {
  // NFKC comes first, for compatibility forms such as full-width letters. deburr handles letters that Unicode does not
  // decompose: ø ł đ ß ı æ.
  return deburr(text.normalize('NFKC').toLowerCase())
    .normalize('NFD')
    .replaceAll(ACCENTS, '')
    .replaceAll('ς', 'σ')
    .normalize('NFC');
}

/**
 * Returns a filter that finds the text anywhere, literally. It is not a RegExp, whose source may escape characters in a
 * way that MongoDB rejects.
 */
export function textWithin(part: string): { $regex: string } {
  return { $regex: searchText(part).replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`) };
}

/**
 * Returns the key of a name that must be unique regardless of case, surrounding blanks and Unicode form. Accents count.
 */
export function sameName(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}
