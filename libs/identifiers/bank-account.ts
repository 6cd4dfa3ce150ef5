// Numbers of bank accounts: IBAN and BIC in their stored and printed forms.
import { electronicFormatIBAN, friendlyFormatIBAN, isValidBIC, isValidIBAN } from 'ibantools';

/**
 * Reads an IBAN.
 * @returns it without blanks, in capitals. Undefined when length, form or check digits are not those of its country.
 */
export function readIban(text: string): string | undefined {
  const iban = electronicFormatIBAN(text);
  return iban !== null && isValidIBAN(iban) ? iban : undefined;
}

/** Reads a BIC. @returns it in capitals. Undefined when it is not of ISO 9362. */
export function readBic(text: string): string | undefined {
  const bic = text.replaceAll(/\s/g, '').toUpperCase();
  return isValidBIC(bic) ? bic : undefined;
}

/** Writes an IBAN in groups of four. */
export function printedIban(iban: string): string {
  return friendlyFormatIBAN(iban) ?? iban;
}
