// Validation of profile fields of accounts and clients, for the API and the command line.
import Joi from 'joi';

const EMAIL_LONGEST = 254; // RFC 5321, as errata 1690 counts it.
export const LOCALE_LONGEST = 100;

/** Checks the form of an e-mail address only, because no list of top-level domains is complete. */
export function emailForm(text: Joi.StringSchema): Joi.StringSchema {
  return text.email({ tlds: false }).max(EMAIL_LONGEST);
}

export function isEmail(text: string): boolean {
  return emailForm(Joi.string()).validate(text, { convert: false }).error === undefined;
}

/** Returns the canonical language tag. Undefined when it is malformed (`de_DE`) or the language is unknown. */
export function languageTag(locale: string): string | undefined {
  try {
    return Intl.NumberFormat.supportedLocalesOf(locale)[0];
  } catch {
    return undefined; // The text is not a language tag.
  }
}

/** Returns a tag that Intl accepts. Older accounts may have the `de_DE` of a shell, which counts as English. */
export function intlLocale(locale: string): string {
  return languageTag(locale) ?? 'en';
}

/** Returns the canonical language tag within a bound, because the canonical spelling can be longer than the input. */
export function knownLocale(locale: string): string | undefined {
  const known = languageTag(locale);
  return known && known.length <= LOCALE_LONGEST ? known : undefined;
}

/** Returns the canonical spelling of an IANA time zone. Undefined when it is unknown. */
export function knownZone(zone: string): string | undefined {
  try {
    // Offsets such as +02:00 have no daylight saving time, so only names are accepted.
    if (!/^[A-Z]/i.test(zone)) return undefined;
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
    // This fixes the case but never replaces the name: JavaScript reports Asia/Kolkata under its old name.
    return timeZone.toLowerCase() === zone.toLowerCase() ? timeZone : zone;
  } catch {
    return undefined; // The zone is unknown.
  }
}
