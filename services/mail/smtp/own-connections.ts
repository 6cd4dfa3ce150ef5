// The connections to the mail servers of accounts: dialled through the guard, few for each, and with less patience.
import { asciiDomain } from '#libs/mail/ascii-address.ts';
import { domainOf, loginOf, type MailServerRecord } from '#libs/models/messages/mail-server.ts';
import { wireId } from '#libs/models/tenant.ts';
import type { DialMailServer } from '#libs/outbound/dial-mail-server.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import { type Connections, openConnections } from './connections.ts';

/** The time for the connection, with the resolution of the name. */
const DIAL_MS = 10_000;
/** The longest time that the server may say nothing. */
const SILENCE_MS = 60_000;
/** The longest time of one mail: a server that says a word a minute must not keep a slot. */
const MAIL_MS = 300_000;
/** An account sends one mail after the other, see take-turns.ts. */
const IDLE_MAX = 1;

export interface OwnConnections {
  /** Returns the connections to the server as it is set now. @throws Error when no key opens its password. */
  to(server: MailServerRecord): Connections;
  close(): void;
}

export interface OwnOptions {
  dial: DialMailServer;
  box: Pick<SecretBox, 'open'>;
  /** The longest time that a server may say nothing. SILENCE_MS when it is longer. */
  timeoutMs: number;
}

/** The error of a connection that was not made. It is the same whatever the reason: an account must not learn about our network. */
export class NotReached extends Error {
  constructor(options: { cause: unknown }) {
    super('The mail server cannot be reached', options);
    this.name = 'NotReached';
  }
}

export function openOwnConnections({ dial, box, timeoutMs }: OwnOptions): OwnConnections {
  /** By the id of the record, which is another one after each change. */
  const open = new Map<string, Connections>();
  const patience = Math.min(SILENCE_MS, timeoutMs);

  return {
    to(record) {
      const key = wireId(record._id);
      for (const [other, connections] of open) if (other !== key && connections.isEmpty()) open.delete(other);
      const known = open.get(key);
      if (known) return known;
      const { host, port, tls } = record;
      const server = {
        host,
        port,
        tls: tls === 'implicit' ? 'from the start' : 'required',
        login: loginOf(record, box),
      } as const;
      const connections = openConnections(server, {
        name: asciiDomain(domainOf(record.from)),
        timeoutMs: patience,
        mailMs: MAIL_MS,
        idleMax: IDLE_MAX,
        dial: () =>
          dial({ host, port }, Math.min(DIAL_MS, patience)).catch((cause: unknown) => {
            throw new NotReached({ cause });
          }),
      });
      open.set(key, connections);
      return connections;
    },
    close() {
      for (const connections of open.values()) connections.close();
      open.clear();
    },
  };
}
