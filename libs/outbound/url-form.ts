// The form of the URLs that callers give: of a webhook, of an image, whichever program reads them.

/** Of a URL in its canonical form as well, where what is not ASCII is longer. */
export const URL_LONGEST = 2_048;

/** Blanks, line breaks and control characters would be taken off in silence, and a backslash be read as a slash: what is judged must be what was written. */
const WEB_URL = /^https?:\/\/[^\s\\\p{Cc}\p{Cf}\p{Cs}]+$/iu;
/** Its type may have parameters, such as a charset. */
const DATA_URI = /^data:([\w.+-]+)\/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+){0,4};base64,[A-Za-z0-9+/]+={0,2}$/i;

/** True of an absolute http or https URL. Whether it may be called is for libs/outbound/outbound.ts to say. */
export function isWebUrl(text: string): boolean {
  return text.length <= URL_LONGEST && WEB_URL.test(text) && URL.canParse(text);
}

/** True of a base64 data URI. @param type what it must claim to be, such as `image`; anything unless given. */
export function isDataUri(text: string, type?: string): boolean {
  const [, claimed] = DATA_URI.exec(text) ?? [];
  return claimed !== undefined && (type === undefined || claimed.toLowerCase() === type);
}
