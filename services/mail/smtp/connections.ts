// The connections to an SMTP server. One that has just sent a mail is kept for a while for the next one.
import type { Socket } from 'node:net';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { SmtpServer } from './smtp-url.ts';

/** The time for which a connection waits for the next mail. Servers close idle ones after minutes. */
const IDLE_MS = 10_000;
/** Servers limit the mails of one connection. */
const MAILS_MAX = 50;
const CONNECT_MAX_MS = 30_000;
/** A server that says more than this in one reply is none. */
const REPLY_BYTES_MAX = 64 * 1024;

export interface Connection {
  smtp: SMTPConnection;
  /** False for a kept connection, which the server may have closed meanwhile. */
  isNew: boolean;
}

export interface Connections {
  /** Returns a connection that is logged in. @throws the error of the connection or of the login. */
  open(options?: { onlyNew?: boolean }): Promise<Connection>;
  /** Keeps the connection for the next mail. The mail was taken, so the server expects another one. */
  keep(connection: Connection): void;
  /** Ends the connection at once. A mail that is half sent counts as not sent for the server. */
  drop(connection: Connection): void;
  /** True while no connection is open. */
  isEmpty(): boolean;
  close(): void;
}

export interface ConnectionOptions {
  /** The name with which we greet the server. */
  name: string;
  timeoutMs: number;
  /** Opens the connection in the place of the system's resolver, which asks for no address to be public. */
  dial?: (() => Promise<Socket>) | undefined;
  /** The time that one mail may take in all. Any unless given. */
  mailMs?: number | undefined;
  /** The connections that wait for the next mail. Any number unless given. */
  idleMax?: number | undefined;
}

export function openConnections(server: SmtpServer, options: ConnectionOptions): Connections {
  const { idleMax = Number.POSITIVE_INFINITY } = options;
  const idle: { smtp: SMTPConnection; mails: number; timer: NodeJS.Timeout }[] = [];
  const mailsOf = new WeakMap<SMTPConnection, number>();
  /** The timers of the connections that send. */
  const sending = new Map<SMTPConnection, NodeJS.Timeout | undefined>();

  function begin(smtp: SMTPConnection): void {
    const cut = () => {
      if (smtp._socket) smtp._socket.destroy(new Error('The mail took too long'));
    };
    sending.set(smtp, options.mailMs === undefined ? undefined : setTimeout(cut, options.mailMs));
  }

  function end(smtp: SMTPConnection): void {
    clearTimeout(sending.get(smtp));
    sending.delete(smtp);
  }

  async function connect(): Promise<SMTPConnection> {
    const connection = await options.dial?.();
    const smtp = new SMTPConnection({
      ...(connection ? { connection } : {}),
      host: server.host,
      port: server.port,
      secure: server.tls === 'from the start',
      requireTLS: server.tls === 'required',
      name: options.name,
      connectionTimeout: Math.min(CONNECT_MAX_MS, options.timeoutMs),
      greetingTimeout: Math.min(CONNECT_MAX_MS, options.timeoutMs),
      dnsTimeout: Math.min(CONNECT_MAX_MS, options.timeoutMs),
      socketTimeout: options.timeoutMs,
      maxResponseSize: REPLY_BYTES_MAX,
    });
    try {
      begin(smtp);
      await new Promise<void>((resolve, reject) => {
        smtp.once('error', reject);
        smtp.once('end', () => reject(new Error('The SMTP server closed the connection')));
        smtp.connect((error) => {
          if (error) reject(error);
          else logIn(smtp).then(resolve, reject);
        });
      });
      return smtp;
    } catch (error) {
      end(smtp);
      smtp.close();
      throw error;
    } finally {
      // Errors of a kept connection only mean that it is gone.
      smtp.on('error', () => undefined);
    }
  }

  function logIn(smtp: SMTPConnection): Promise<void> {
    const { login } = server;
    if (!login) return Promise.resolve();
    return new Promise((resolve, reject) => {
      smtp.login({ credentials: login }, (error) => (error ? reject(error) : resolve()));
    });
  }

  function takeIdle(): SMTPConnection | undefined {
    for (let one = idle.pop(); one; one = idle.pop()) {
      clearTimeout(one.timer);
      if (!isGone(one.smtp)) return one.smtp;
    }
    return undefined;
  }

  return {
    async open({ onlyNew = false } = {}) {
      const kept = onlyNew ? undefined : takeIdle();
      if (!kept) return { smtp: await connect(), isNew: true };
      begin(kept);
      return { smtp: kept, isNew: false };
    },
    keep({ smtp }) {
      end(smtp);
      const mails = (mailsOf.get(smtp) ?? 0) + 1;
      if (mails >= MAILS_MAX || idle.length >= idleMax || isGone(smtp)) return smtp.quit();
      mailsOf.set(smtp, mails);
      const timer = setTimeout(() => {
        idle.splice(idle.indexOf(entry), 1);
        smtp.quit();
      }, IDLE_MS);
      const entry = { smtp, mails, timer };
      idle.push(entry);
    },
    drop({ smtp }) {
      end(smtp);
      smtp.close();
    },
    isEmpty: () => idle.length === 0 && sending.size === 0,
    close() {
      for (const { smtp, timer } of idle.splice(0)) {
        clearTimeout(timer);
        smtp.quit();
      }
    },
  };
}

function isGone(smtp: SMTPConnection): boolean {
  return smtp.destroyed || !smtp._socket || smtp._socket.destroyed;
}
