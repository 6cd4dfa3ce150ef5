// The replies of an SMTP server, in the form that the record keeps.
import { REPLY_LONGEST } from '#libs/models/messages/message.ts';

export interface SmtpReply {
  /** `550`, or `550 5.1.1` with an enhanced code. Undefined when the server said nothing. */
  code?: string | undefined;
  text: string;
  /** True for 5xx: another attempt would be rejected, too. */
  isPermanent: boolean;
}

const FORM = /^(\d{3})(?:[ -](\d\.\d{1,3}\.\d{1,3})(?= |$))?[ -]?([\s\S]*)$/;

/** Reads a reply of the server. */
export function readReply(line: string): SmtpReply {
  const [, code, enhanced, text = ''] = FORM.exec(line) ?? [undefined, undefined, undefined, line];
  return {
    ...(code ? { code: enhanced ? `${code} ${enhanced}` : code } : {}),
    text: printable(text),
    isPermanent: code?.startsWith('5') ?? false,
  };
}

/** Returns the words of an error of the connection, which is no reply of the server. */
export function withoutReply(text: string): SmtpReply {
  return { text: printable(text), isPermanent: false };
}

/** A server may say anything: the record keeps one line of bounded length. */
function printable(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, REPLY_LONGEST);
}
