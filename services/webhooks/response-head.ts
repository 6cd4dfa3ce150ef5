// Shortens the head of a receiver's response to the headers that an attempt keeps, without what should not be stored.
import { HEAD_BYTES_MAX, HEADER_BYTES, HEADERS_KEPT, type ResponseHeader } from '#libs/models/webhooks/delivery.ts';
import { UNPRINTABLE } from '#libs/printable.ts';

/** The headers that explain an outcome. They are kept before others. */
const EXPLAINING: ReadonlySet<string> = new Set([
  'content-type',
  'retry-after',
  'location',
  'allow',
  'www-authenticate',
  'server',
  'via',
  'date',
  'x-request-id',
]);
/** The names of headers that may carry a credential or identify a session. */
const CONFIDENTIAL =
  /cookie|authori[sz]ation|authentication-info|token|secret|passw|api-?key|session|signature|credential/;
const MASKED = '(masked)';
/** The headers with a URL, whose query and user may be credentials. */
const WITH_URL: ReadonlySet<string> = new Set(['location', 'content-location', 'refresh', 'link']);

/** Characters. A longer value or name ends with an ellipsis. */
const VALUE_LONGEST = 200;
const NAME_LONGEST = 60;
const EVERY_UNPRINTABLE = new RegExp(UNPRINTABLE, 'g');

/**
 * Returns the headers that an attempt keeps, those that explain its outcome first, within HEADERS_KEPT and
 * HEAD_BYTES_MAX.
 * @param raw names and values by turns, as Node.js has read them: the first thousand headers of at most 16 KiB.
 */
export function shortHead(raw: readonly string[]): ResponseHeader[] {
  const headers = raw.flatMap((name, index) =>
    index % 2 === 0 ? [{ name: name.toLowerCase(), value: raw[index + 1] ?? '' }] : [],
  );
  const [first, others] = [true, false].map((wanted) =>
    headers.filter(({ name }) => EXPLAINING.has(name) === wanted),
  ) as [ResponseHeader[], ResponseHeader[]];
  const kept: ResponseHeader[] = [];
  let left = HEAD_BYTES_MAX;
  for (const header of [...first, ...others]) {
    if (kept.length === HEADERS_KEPT) break;
    const short = shortHeader(header);
    const bytes = HEADER_BYTES + Buffer.byteLength(short.name) + Buffer.byteLength(short.value);
    if (bytes > left) continue;
    left -= bytes;
    kept.push(short);
  }
  return kept;
}

function shortHeader({ name, value }: ResponseHeader): ResponseHeader {
  return { name: shortened(name, NAME_LONGEST), value: shownValue(name, value) };
}

function shownValue(name: string, value: string): string {
  if (CONFIDENTIAL.test(name)) return MASKED;
  const text = WITH_URL.has(name) ? withoutCredentials(value) : value;
  return shortened(text.replaceAll(/\s/g, ' ').replaceAll(EVERY_UNPRINTABLE, '\ufffd'), VALUE_LONGEST);
}

function withoutCredentials(url: string): string {
  return url.replaceAll(/\/\/[^/?#\s]*@/g, '//…@').replaceAll(/[?#][^\s>;,"]*/g, '?…');
}

function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
