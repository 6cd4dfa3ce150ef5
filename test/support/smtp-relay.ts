// A real SMTP server for tests: it keeps the mails that it takes, and refuses, defers, hangs or breaks off as a test wants.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

interface TakenMail {
  from: string;
  to: string[];
  /** The mail as it came, with its headers. */
  source: string;
  isSecure: boolean;
  /** Present on a mail that came as one for servers with SMTPUTF8 alone. */
  isUtf8?: true;
  user: string | undefined;
}

interface RelayBehaviour {
  /** Returns `550 5.1.1 No such user` for a recipient that is refused. `hang` never answers. */
  onRecipient?: (address: string) => string | undefined | Promise<string | undefined>;
  onSender?: () => string | undefined;
  /** Returns `stall` for a mail of whose contents nothing is read. */
  onStart?: (address: string) => 'stall' | undefined;
  /** Returns the reply to the contents in the place of 250. `hang` takes them and never answers, `break` ends the connection. */
  onContents?: (address: string) => string | undefined | Promise<string | undefined>;
}

export interface Relay {
  /** The address for SMTP_URL. */
  url: string;
  port: number;
  /** Mails that were answered with 250, and those after whose contents no answer came. */
  taken: TakenMail[];
  /** The recipients that were named, in order. */
  named: string[];
  connections: number;
  behave(behaviour: RelayBehaviour): void;
  /** Ends all connections, as a server does with idle ones. */
  hangUp(): void;
  close(): Promise<void>;
}

export async function openSmtpRelay(options: SMTPServerOptions = {}, host = '127.0.0.1', at = 0): Promise<Relay> {
  let behaviour: RelayBehaviour = {};
  const relay = { taken: [] as TakenMail[], named: [] as string[], connections: 0 };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.cert ? [] : ['STARTTLS', 'AUTH'],
    logger: false,
    closeTimeout: 100,
    onConnect(_session, done) {
      relay.connections += 1;
      done();
    },
    onMailFrom(_address, _session, done) {
      done(refusal(behaviour.onSender?.()));
    },
    onRcptTo({ address }, _session, done) {
      relay.named.push(address);
      const answer = async () => {
        const wanted = await behaviour.onRecipient?.(address);
        if (wanted !== 'hang') done(refusal(wanted));
      };
      void answer();
    },
    onData(stream, session, done) {
      if (behaviour.onStart?.(session.envelope.rcptTo[0]?.address ?? '') === 'stall') return;
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      const answer = async () => {
        const wanted = await behaviour.onContents?.(session.envelope.rcptTo[0]?.address ?? '');
        if (wanted === undefined || wanted === 'hang' || wanted === 'break') {
          relay.taken.push({
            from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
            to: session.envelope.rcptTo.map(({ address }) => address),
            source: Buffer.concat(chunks).toString('utf8'),
            isSecure: session.secure,
            ...(session.envelope.smtpUtf8 ? { isUtf8: true as const } : {}),
            user: session.user as string | undefined,
          });
        }
        if (wanted === 'hang') return;
        if (wanted === 'break') {
          hangUp();
          return;
        }
        done(refusal(wanted), 'OK queued as 4711');
      };
      stream.on('end', () => void answer());
    },
    ...options,
  });
  const hangUp = () => {
    for (const connection of server.connections) connection.close();
  };
  server.on('error', () => undefined); // A client that breaks off is part of the tests.
  const listening = server.listen(at, host);
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  return Object.assign(relay, {
    port,
    url: `smtp://${host}:${port}`,
    behave(next: RelayBehaviour) {
      behaviour = next;
    },
    hangUp,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}

function refusal(reply: string | undefined): Error | null {
  if (reply === undefined) return null;
  const [, code = '', text] = /^(\d{3}) (.*)$/.exec(reply) ?? [];
  return Object.assign(new Error(text), { responseCode: Number(code) });
}
