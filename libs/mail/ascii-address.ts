// The form in which mail servers know an address: its domain in ASCII, whatever characters people write.
import { domainToASCII, domainToUnicode } from 'node:url';

const ASCII = /^\p{ASCII}*$/u;

/** Returns a domain such as `bücher.example` as `xn--bcher-kva.example`. A domain that has no such form stays. */
export function asciiDomain(domain: string): string {
  return ASCII.test(domain) ? domain : domainToASCII(domain) || domain;
}

/** Returns the address with its domain in ASCII. The part before it stays: only a server with SMTPUTF8 takes another than ASCII. */
export function asciiAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + asciiDomain(address.slice(at));
}

/** Returns the forms in which the same address may be stored: as it is given, and with its domain in ASCII and in the characters of people. */
export function formsOf(address: string): string[] {
  const at = address.lastIndexOf('@') + 1;
  const written = address.slice(0, at) + domainToUnicode(address.slice(at));
  return [...new Set([address, asciiAddress(address), written])];
}
