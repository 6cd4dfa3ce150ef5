// VAT identification numbers: their form, and their check digits where a country publishes the rule.
import { checkVAT, countries } from 'jsvat-next';
import { isCountry } from './country.ts';

/**
 * Prefixes that replace the code of ISO 3166: Greece, Northern Ireland, and the Union's one-stop shop for sellers from
 * elsewhere.
 */
const OTHER_PREFIXES = new Set(['EL', 'XI', 'EU']);
/**
 * The library's rules by the prefix of the number. Brazil's are left out, because its numbers have letters since July
 * 2026.
 */
const RULES = new Map(
  countries.flatMap((country) => {
    const code = country.codes[0];
    if (code === undefined || code === 'BR') return [];
    return [[code === 'GR' ? 'EL' : code, country] as const, ...(code === 'GB' ? [['XI', country] as const] : [])];
  }),
);

/** A country code and up to 16 more characters, among them two digits. */
const FORM = /^(?=.*\d.*\d)[A-Z]{2}[A-Z0-9+*]{2,16}$/;

type VatIdReading = { id: string; problem?: undefined } | { id?: undefined; problem: 'form' | 'check digits' };

/**
 * Reads a VAT id.
 * @returns it in capitals without blanks, dots and hyphens, or its problem. Greece is written EL, and Norway keeps its
 * suffix.
 */
export function readVatId(text: string): VatIdReading {
  const id = compact(text);
  const prefix = id.slice(0, 2);
  if (!FORM.test(id) || !(isCountry(prefix) || OTHER_PREFIXES.has(prefix))) return { problem: 'form' };
  const country = RULES.get(prefix);
  if (!country) return { id };
  // The library knows Norwegian numbers without their country.
  const { isValid, isValidFormat } = checkVAT(prefix === 'NO' ? id.slice(2) : id, [country]);
  if (isValid) return { id };
  return { problem: isValidFormat ? 'check digits' : 'form' };
}

/** Writes a VAT id for people: the Swiss group their digits. */
export function printedVatId(id: string): string {
  return id.replace(/^CHE(\d{3})(\d{3})(\d{3})/, 'CHE-$1.$2.$3 ').trim();
}

function compact(text: string): string {
  return text
    .toUpperCase()
    .replaceAll(/[\s./-]/g, '')
    .replace(/^GR(?=\d)/, 'EL')
    .replace(/^NO\d{9}$/, '$&MVA');
}
