// What the profile of an account or a client may hold, whether it comes over HTTP or from the command line.
import Joi from 'joi';

const EMAIL_LONGEST = 254; // RFC 5321, as errata 1690 counts it.
export const LOCALE_LONGEST = 100;

/** Mail systems accept more than any list of top-level domains knows, so only the form is checked. */
export function emailForm(text: Joi.StringSchema): Joi.StringSchema {
  return text.email({ tlds: false }).max(EMAIL_LONGEST);
}

export function isEmail(text: string): boolean {
  return emailForm(Joi.string()).validate(text, { convert: false }).error === undefined;
}

/** @returns the language tag in its usual spelling; undefined when it is none, as `de_DE` of a shell is none, or of no language known here. */
export function languageTag(locale: string): string | undefined {
  try {
    return Intl.NumberFormat.supportedLocalesOf(locale)[0];
  } catch {
    return undefined; // Not a language tag.
  }
}

/** As languageTag, for a profile: in its usual spelling a locale can be longer than it was. */
export function knownLocale(locale: string): string | undefined {
  const known = languageTag(locale);
  return known && known.length <= LOCALE_LONGEST ? known : undefined;
}

/** @returns the name as the list of zones spells it; undefined when it is none. */
export function knownZone(zone: string): string | undefined {
  try {
    // Offsets such as +02:00 have no daylight saving; a name is meant.
    if (!/^[A-Z]/i.test(zone)) return undefined;
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions();
    // In the spelling of the list, but not under another name: JavaScript calls Asia/Kolkata by its old one.
    return timeZone.toLowerCase() === zone.toLowerCase() ? timeZone : zone;
  } catch {
    return undefined; // Not known.
  }
}
