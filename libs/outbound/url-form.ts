// The form of URLs from callers (webhooks, images), shared by every program that reads them.

/** The limit also applies to the canonical form, which is longer where the input is not ASCII. */
export const URL_LONGEST = 2_048;

/**
 * URL parsers drop blanks, line breaks and control characters, and read a backslash as a slash. This form rejects such
 * input instead.
 */
const WEB_URL = /^https?:\/\/[^\s\\\p{Cc}\p{Cf}\p{Cs}]+$/iu;
/** The media type may have parameters, such as a charset. */
const DATA_URI = /^data:([\w.+-]+)\/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+){0,4};base64,[A-Za-z0-9+/]+={0,2}$/i;

/** True for an absolute http or https URL. libs/outbound/outbound.ts decides if it may be called. */
export function isWebUrl(text: string): boolean {
  return text.length <= URL_LONGEST && WEB_URL.test(text) && URL.canParse(text);
}

/** True for a base64 data URI. @param type its required top-level media type, such as `image`. Any type by default. */
export function isDataUri(text: string, type?: string): boolean {
  const [, claimed] = DATA_URI.exec(text) ?? [];
  return claimed !== undefined && (type === undefined || claimed.toLowerCase() === type);
}
