// Text as searches compare it: without case, accents and other differences of spelling that people leave out when they type.
import { deburr } from 'es-toolkit';

/** Accents of Latin, Greek and Cyrillic letters. Vowel signs of other scripts stay: without them it would be another word. */
const ACCENTS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/g;

/**
 * José and jose, Straße and strasse, Łódź and lodz, full-width and usual letters, composed and decomposed ones become the same.
 * What a stored field holds must be made by this function, too.
 */
export function searchText(text: string): string {
  // NFKC first, for compatibility forms such as full-width letters; deburr, for letters that Unicode does not decompose: ø ł đ ß ı æ.
  return deburr(text.normalize('NFKC').toLowerCase())
    .normalize('NFD')
    .replaceAll(ACCENTS, '')
    .replaceAll('ς', 'σ')
    .normalize('NFC');
}

/** Finds the text anywhere; every character stands for itself. No RegExp: that would write some of them in a way MongoDB does not read. */
export function textWithin(part: string): { $regex: string } {
  return { $regex: searchText(part).replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`) };
}

/** A name that must be unique without regard to case, blanks around it and the way its accents are written. Accents count. */
export function sameName(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}
