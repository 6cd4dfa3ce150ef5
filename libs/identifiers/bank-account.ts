// Numbers of bank accounts: IBAN and BIC, as they are stored and as they are printed.
import { electronicFormatIBAN, friendlyFormatIBAN, isValidBIC, isValidIBAN } from 'ibantools';

/** @returns without blanks, in capitals; undefined when length, form or check digits are not those of its country. */
export function readIban(text: string): string | undefined {
  const iban = electronicFormatIBAN(text);
  return iban !== null && isValidIBAN(iban) ? iban : undefined;
}

/** @returns in capitals; undefined when it is not of ISO 9362. */
export function readBic(text: string): string | undefined {
  const bic = text.replaceAll(/\s/g, '').toUpperCase();
  return isValidBIC(bic) ? bic : undefined;
}

/** In groups of four. */
export function printedIban(iban: string): string {
  return friendlyFormatIBAN(iban) ?? iban;
}
