// The cause of a failed attempt to mail: the code of the server's reply, else a class of the error. MongoDB groups and filters by it, and
// pages name it.

interface Reply {
  code?: string | undefined;
  text?: string | undefined;
}

/** The classes of errors without a reply, the first that matches. */
const CLASSES: readonly (readonly [name: string, pattern: string])[] = [
  ['TLS', 'tls|ssl|certificate|self.signed'],
  ['connection refused', 'econnrefused'],
  ['name not found', 'enotfound|eai_again|edns|getaddrinfo'],
  ['connection lost', 'econnreset|epipe|closed|ended before'],
  ['timeout', 'timeout|timedout|timed out|too long'],
  ['not reached', 'cannot be reached|ehostunreach|enetunreach|econnection'],
  ['login', 'auth|login|credentials|password'],
  ['no mail server', 'mail server was deleted|no mail server'],
  ['mail not made', 'cannot be made|could not be made|too large|larger than|portal_url'],
];
const OTHER = 'other';

export function causeOf({ code, text = '' }: Reply): string {
  if (code) return code;
  return CLASSES.find(([, pattern]) => new RegExp(pattern, 'i').test(text))?.[0] ?? OTHER;
}

/** Returns the expression of MongoDB that does what causeOf does. */
export function causeExpression(code: string, text: string): object {
  const branches = CLASSES.map(([name, regex]) => ({
    case: { $regexMatch: { input: { $ifNull: [text, ''] }, regex, options: 'i' } },
    // biome-ignore lint/suspicious/noThenProperty: the name that MongoDB gives it.
    then: name,
  }));
  return { $ifNull: [code, { $switch: { branches, default: OTHER } }] };
}

/** The meaning of codes, an enhanced one before its class. */
const MEANINGS: Readonly<Record<string, string>> = {
  '5.1.1': 'no such mailbox',
  '5.1.2': 'no such domain',
  '5.1.10': 'the domain takes no mail',
  '5.2.1': 'the mailbox is closed',
  '5.2.2': 'the mailbox is full',
  '4.2.2': 'the mailbox is full',
  '5.3.4': 'the mail is too large',
  '4.7.1': 'put off, such as by greylisting',
  '5.7.1': 'against a rule of the receiver',
  '5.7.26': 'SPF or DKIM of the sender fails',
  '5.7.8': 'the login is rejected',
  '421': 'the server closes or is busy',
  '450': 'the mailbox cannot be used now',
  '451': 'an error of the server',
  '452': 'the server has no room',
  '454': 'TLS or login does not work now',
  '530': 'a login or TLS is needed',
  '534': 'the login is too weak',
  '535': 'the login is rejected',
  '550': 'the mailbox or the mail is rejected',
  '551': 'no mailbox of this server',
  '552': 'the mailbox is full, or the mail too large',
  '553': 'the address is rejected',
  '554': 'the mail is rejected',
};

/** Returns the meaning of the code of a cause in a few words. */
export function meaningOf(cause: string): string | undefined {
  const [code = '', enhanced = ''] = cause.split(' ');
  return MEANINGS[enhanced] ?? MEANINGS[code];
}
