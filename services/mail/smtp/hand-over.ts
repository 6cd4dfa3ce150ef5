// Hands one mail to the SMTP server, and tells apart what the server took, what it rejected, and what nothing is known of.
import { Readable } from 'node:stream';
import { errorText } from '#libs/errors.ts';
import type { Connection, Connections } from './connections.ts';
import { NotReached } from './own-connections.ts';
import { readReply, type SmtpReply, withoutReply } from './smtp-reply.ts';

export interface Envelope {
  /** The return path. */
  from: string;
  to: readonly string[];
}

export interface Refusal {
  address: string;
  reply: SmtpReply;
}

export type HandOver =
  /** The server took the mail for all recipients but those that it refused. */
  | { outcome: 'taken'; refusals: Refusal[]; reply: SmtpReply }
  /** The server refused every recipient, or the mail. */
  | { outcome: 'refused'; refusals: Refusal[]; reply: SmtpReply; hasLeft: boolean }
  /** The server was not reached, or broke off before it got contents. */
  | { outcome: 'unreachable'; reply: SmtpReply; hidesTime?: true }
  /** The contents left, and no reply came. */
  | { outcome: 'unknown'; reply: SmtpReply }
  /** `beforeContents` said no. Nothing left. */
  | { outcome: 'stopped' };

/** The properties of nodemailer's errors that tell what happened. */
interface SmtpError extends Error {
  code?: string | undefined;
  command?: string | undefined;
  response?: string | undefined;
  recipient?: string | undefined;
  rejectedErrors?: SmtpError[] | undefined;
}

/**
 * Hands the mail over.
 * @param beforeContents the last step before contents leave, after the server agreed to get them. The server waits for
 * it. Contents leave only if it returns true.
 */
export async function handOver(
  connections: Connections,
  mail: { envelope: Envelope; bytes: Buffer },
  beforeContents: () => Promise<boolean>,
): Promise<HandOver> {
  let connection: Connection;
  try {
    connection = await connections.open();
  } catch (error) {
    return unreachable(error);
  }
  const first = await send(connections, connection, mail, beforeContents);
  // The server had closed a kept connection, which is its right and no failed attempt.
  if (connection.isNew || first.outcome !== 'unreachable') return first;
  try {
    connection = await connections.open({ onlyNew: true });
  } catch (error) {
    return unreachable(error);
  }
  return send(connections, connection, mail, beforeContents);
}

function send(
  connections: Connections,
  connection: Connection,
  { envelope, bytes }: { envelope: Envelope; bytes: Buffer },
  beforeContents: () => Promise<boolean>,
): Promise<HandOver> {
  let hasLeft = false;
  let isStopped = false;
  // nodemailer reads the stream once the server has accepted DATA.
  const contents = new Readable({
    read() {
      beforeContents().then(
        (mayLeave) => {
          if (!mayLeave) {
            isStopped = true;
            contents.destroy(new Error('stopped'));
            return;
          }
          hasLeft = true;
          contents.push(bytes);
          contents.push(null);
        },
        (error: Error) => contents.destroy(error),
      );
      // All of it is pushed at once.
      contents._read = () => undefined;
    },
  });
  return new Promise<HandOver>((resolve, reject) => {
    connection.smtp.send(
      { from: envelope.from, to: [...envelope.to], size: bytes.length },
      contents,
      (failure: SmtpError | null, info) => {
        if (!failure && info) {
          connections.keep(connection);
          return resolve({
            outcome: 'taken',
            refusals: refusalsOf(info.rejectedErrors ?? []),
            reply: readReply(info.response),
          });
        }
        connections.drop(connection);
        const error: SmtpError = failure ?? new Error('no reply');
        if (isStopped) return resolve({ outcome: 'stopped' });
        // A failure of the last step is one of ours, and says nothing about the server.
        if (error.code === 'ESTREAM') return reject(error.cause ?? error);
        resolve(afterFailure(error, envelope, hasLeft));
      },
    );
  });
}

function afterFailure(error: SmtpError, { to }: Envelope, hasLeft: boolean): HandOver {
  // A closing server says 421, which refuses nothing.
  const isReply = error.response !== undefined && !error.response.startsWith('421');
  const isTooLarge = error.code === 'EMESSAGE' && error.command === 'MAIL FROM';
  if (error.rejectedErrors && error.rejectedErrors.length > 0) {
    const refusals = refusalsOf(error.rejectedErrors);
    return { outcome: 'refused', refusals, reply: (refusals[0] as Refusal).reply, hasLeft };
  }
  if (isTooLarge || error.code === 'EENVELOPE' || (isReply && error.command !== 'CONN')) {
    const reply = isReply
      ? readReply(error.response as string)
      : // The server said how much it takes, or cannot be given such an address.
        { text: errorText(error), isPermanent: true };
    return { outcome: 'refused', refusals: to.map((address) => ({ address, reply })), reply, hasLeft };
  }
  const reply = error.response === undefined ? withoutReply(errorText(error)) : readReply(error.response);
  return hasLeft ? { outcome: 'unknown', reply } : { outcome: 'unreachable', reply };
}

function refusalsOf(errors: readonly SmtpError[]): Refusal[] {
  return errors.map(({ recipient = '', response, message }) => ({
    address: recipient,
    reply: response === undefined ? withoutReply(message) : readReply(response),
  }));
}

/** A login that is refused, a certificate that nothing vouches for, a server that does not answer: the operator can repair each. */
function unreachable(error: unknown): HandOver {
  const { response } = error as SmtpError;
  return {
    outcome: 'unreachable',
    // Time would tell a refused address from a closed port.
    ...(error instanceof NotReached ? { hidesTime: true } : {}),
    reply: { ...(response === undefined ? withoutReply(errorText(error)) : readReply(response)), isPermanent: false },
  };
}
