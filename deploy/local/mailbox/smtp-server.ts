// The SMTP server of the mailbox. It listens on this machine alone, and takes any mail that is not too large.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';

// More than the largest mail that Billhook sends.
const MAIL_BYTES_MAX = 20 * 2 ** 20;
const CLIENTS_MAX = 20;
const CLOSE_LIMIT_MS = 500;
const TOO_LARGE = 552;
const NOT_KEPT = 451;

// @param keep stores a mail. The mail is acknowledged once it is stored.
export async function startSmtpServer(keep: (source: Buffer) => Promise<void>) {
  const server = new SMTPServer({
    name: 'mailbox.billhook.test',
    banner: 'Billhook keeps this mail on this machine',
    // Nothing leaves the machine, so there is nothing to encrypt, and no login.
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    disableReverseLookup: true,
    size: MAIL_BYTES_MAX,
    maxClients: CLIENTS_MAX,
    closeTimeout: CLOSE_LIMIT_MS,
    logger: false,
    onData(stream, _session, done) {
      readMail(stream)
        .then((source) => (source ? keep(source) : Promise.reject(refusal(TOO_LARGE, 'The mail is too large'))))
        .then(
          () => done(null, 'kept'),
          (error: Error) => done('responseCode' in error ? error : refusal(NOT_KEPT, error.message)),
        );
    },
  });
  server.on('error', () => {}); // A client that disconnects.
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo; // A TCP server.
  return {
    url: `smtp://127.0.0.1:${port}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

// Reads to the end, as SMTP wants it, but keeps no more than the limit. Returns undefined for a mail over it.
async function readMail(stream: SMTPServerDataStream): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAIL_BYTES_MAX) chunks.push(chunk);
  }
  return size <= MAIL_BYTES_MAX ? Buffer.concat(chunks) : undefined;
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
