// Countries by their code in ISO 3166-1.
import { countrySpecs } from 'ibantools';

/** True for an assigned code in capitals, and for XK, which banks and the Union use for Kosovo. */
export function isCountry(code: string): boolean {
  return Object.hasOwn(countrySpecs, code);
}
