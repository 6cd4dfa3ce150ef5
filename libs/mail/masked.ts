// Masks people and tokens in what operators see of mail.

const MASK = '(masked)';
/** The part of an address before its domain. It has at most 64 characters. */
const LOCAL_PART = /(?:"[^"]{1,64}"|[^\s<>@:;,()"]{1,64})@/g;
/** A token as libs/models/token.ts makes it: a server may repeat the link of the mail that it rejects. */
const TOKEN = /(?<![\w-])[\w-]{43}(?![\w-])/g;

/** Returns the address without the name of its person. */
export function maskedAddress(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 0 ? MASK : `${MASK}${address.slice(at)}`;
}

/** Returns words of a mail server without names of people and tokens, and at most `longest` characters of them. */
export function maskedReply(text: string, longest: number): string {
  const masked = text.replaceAll(LOCAL_PART, `${MASK}@`).replaceAll(TOKEN, MASK);
  return masked.length > longest ? `${masked.slice(0, longest)} …` : masked;
}
