// Validation of profile fields of accounts and clients, for the API and the command line.
import Joi from 'joi';

const EMAIL_LONGEST = 254; // RFC 5321, as errata 1690 counts it.
export const LOCALE_LONGEST = 100;

/** Checks the form only: no list of top-level domains is complete. */
export function emailForm(text: Joi.StringSchema): Joi.StringSchema {
  return text.email({ tlds: false }).max(EMAIL_LONGEST);
}

export function isEmail(text: string): boolean {
  return emailForm(Joi.string()).validate(text, { convert: false }).error === undefined;
}

/** @returns the canonical language tag; undefined when it is malformed (`de_DE`) or the language is unknown. */
export function languageTag(locale: string): string | undefined {
  try {
    return Intl.NumberFormat.supportedLocalesOf(locale)[0];
  } catch {
    return undefined; // Not a language tag.
  }
}

/** For Intl, which throws at what is no tag: older accounts may have the `de_DE` of a shell. English then. */
export function intlLocale(locale: string): string {
  return languageTag(locale) ?? 'en';
}

/** Like languageTag, bounded: the canonical spelling can be longer than the input. */
export function knownLocale(locale: string): string | undefined {
  const known = languageTag(locale);
  return known && known.length <= LOCALE_LONGEST ? known : undefined;
}

/** @returns the canonical spelling of an IANA time zone; undefined when it is unknown. */
export function knownZone(zone: string): string | undefined {
  try {
    // Offsets such as +02:00 have no daylight saving time, so only names are accepted.
    if (!/^[A-Z]/i.test(zone)) return undefined;
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
    // Fixes the case but never replaces the name: JavaScript reports Asia/Kolkata under its old name.
    return timeZone.toLowerCase() === zone.toLowerCase() ? timeZone : zone;
  } catch {
    return undefined; // Unknown.
  }
}
