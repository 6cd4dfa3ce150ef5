// Judges what a receiving server says about one recipient: whether the mail came back, and whether the address is of no use any more.

export interface ReportedReturn {
  /**
   * - `hard`: the mail came back, and so would every other one to the address.
   * - `returned`: the mail came back for a reason of its own, such as its size or a full mailbox.
   * - `soft`: the server still tries.
   * - `none`: nothing came back.
   */
  kind: 'hard' | 'returned' | 'soft' | 'complaint' | 'none';
  /** Such as `550 5.1.1`. */
  code?: string;
  text?: string;
}

export interface ReportedRecipient {
  /** The addresses under which the report names it: the one that we wrote to, then that of a forwarding. Empty when it names none. */
  addresses: string[];
  outcome: ReportedReturn;
}

const TEXT_LONGEST = 2_000;
const ENHANCED = /\b([245]\.\d{1,3}\.\d{1,3})\b/;
const REPLY_CODE = /(?:^|[\s:])([45]\d\d)[ -]/;
/** Full mailboxes, mails that are too large, their content, and rules about senders: the address itself is right. */
const NOT_OF_ADDRESS = /^5\.(?:2\.[23]|3\.4|6\.\d+|7\.\d+)$/;

/**
 * @param action of RFC 3464: `failed`, `delayed`, `delivered` …
 * @param status such as `5.1.1`.
 * @param diagnostic the server's words, such as `smtp; 550 5.1.1 no such user`.
 */
export function returnOf(
  action: string | undefined,
  status: string | undefined,
  diagnostic: string | undefined,
): ReportedReturn {
  const text = printable(diagnostic?.replace(/^[\w-]{1,40}\s*;/, '') ?? '');
  const own = ENHANCED.exec(status ?? '')?.[1];
  // Servers write 5.0.0 where only the words say more.
  const enhanced = own === undefined || own.endsWith('.0.0') ? (ENHANCED.exec(text)?.[1] ?? own) : own;
  const reply = REPLY_CODE.exec(text)?.[1];
  const code = [reply, enhanced].filter((part) => part !== undefined).join(' ');
  return { kind: kindOf(action, enhanced ?? reply ?? '5'), ...(code ? { code } : {}), ...(text ? { text } : {}) };
}

function kindOf(action: string | undefined, code: string): ReportedReturn['kind'] {
  const [done = ''] = /^[a-z]+/.exec(action?.trim().toLowerCase() ?? '') ?? [];
  if (done === 'delayed') return 'soft';
  if (['delivered', 'relayed', 'expanded'].includes(done) || code.startsWith('2')) return 'none';
  return code.startsWith('5') && !NOT_OF_ADDRESS.test(code) ? 'hard' : 'returned';
}

function printable(text: string): string {
  return text
    .slice(0, 2 * TEXT_LONGEST)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, ' ')
    .trim()
    .slice(0, TEXT_LONGEST);
}
