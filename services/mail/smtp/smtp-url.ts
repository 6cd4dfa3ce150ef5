// The SMTP server, as SMTP_URL names it.
import { isIP } from 'node:net';

export interface SmtpServer {
  host: string;
  port: number;
  /** `from the start`: TLS before the greeting. `required`: STARTTLS, or no mail. `offered`: STARTTLS if the server has it. */
  tls: 'from the start' | 'required' | 'offered';
  login: { user: string; pass: string } | undefined;
}

const FORM = 'must be smtp://USER:PASSWORD@HOST:PORT or smtps://…';
const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;
const TLS_CHOICES = ['required', 'offered'] as const;

/**
 * Reads the address. `?tls=required` or `?tls=offered` chooses whether STARTTLS is needed. By default it is needed where
 * a password is sent to another machine.
 * @returns the server, or the problem in words that leave the address out: it may contain a password.
 */
export function readSmtpUrl(text: string): { server: SmtpServer; problem?: undefined } | { problem: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^smtps?:$/.test(url.protocol) || !url.hostname || !/^\/?$/.test(url.pathname)) return { problem: FORM };
  if (url.port === '0') return { problem: FORM };
  const unknown = [...url.searchParams.keys()].filter((name) => name !== 'tls');
  if (unknown.length > 0) return { problem: `has the unknown setting ${unknown.join(', ')}; there is tls` };
  const chosen = url.searchParams.get('tls');
  if (chosen !== null && !(TLS_CHOICES as readonly string[]).includes(chosen))
    return { problem: `has tls=${chosen}, which must be required or offered` };
  const login = loginOf(url);
  if (login === 'unreadable')
    return { problem: 'has a user or password with a % that encodes no character: write %25' };
  const isSecure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const standard = login && !isLoopback(host) ? 'required' : 'offered';
  return {
    server: {
      host,
      port: Number(url.port) || (isSecure ? SUBMISSIONS_PORT : SUBMISSION_PORT),
      tls: isSecure ? 'from the start' : ((chosen as 'required' | 'offered' | null) ?? standard),
      login,
    },
  };
}

/** Returns the server of an address that was checked before. */
export function serverOf(text: string): SmtpServer {
  const read = readSmtpUrl(text);
  if (read.problem !== undefined) throw new Error(`SMTP_URL ${read.problem}`);
  return read.server;
}

function loginOf({ username, password }: URL): SmtpServer['login'] | 'unreadable' {
  if (username === '') return undefined;
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    return 'unreadable';
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
