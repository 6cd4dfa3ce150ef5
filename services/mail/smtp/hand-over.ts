// Hands one mail to the SMTP server, and tells apart what the server took, what it rejected, and what nothing is known of.
import { Readable } from 'node:stream';
import type { SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection';
import { errorText } from '#libs/errors.ts';
import { asciiAddress } from '#libs/mail/ascii-address.ts';
import type { HeldMail } from '../held-mail.ts';
import type { Connection, Connections } from './connections.ts';
import { NotReached } from './own-connections.ts';
import { readReply, type SmtpReply, withoutReply } from './smtp-reply.ts';

interface Envelope {
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

interface EnvelopedMail {
  envelope: Envelope;
  contents: Pick<HeldMail, 'size' | 'read'>;
}

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
  mail: EnvelopedMail,
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

interface Ended {
  failure: SmtpError | null;
  info?: SMTPConnectionSendInfo | undefined;
}

async function send(
  connections: Connections,
  connection: Connection,
  { envelope, contents }: EnvelopedMail,
  beforeContents: () => Promise<boolean>,
): Promise<HandOver> {
  let lastStep: Promise<boolean> | undefined;
  let hasLeft = false;
  // nodemailer reads the stream once the server has accepted DATA.
  const stream: Readable = Readable.from(leaving(), { objectMode: false });

  async function* leaving() {
    lastStep = beforeContents();
    if (!(await lastStep)) throw new Stopped();
    // The connection may have ended during the last step.
    if (stream.destroyed) return;
    hasLeft = true;
    yield* contents.read();
  }

  const { from, to } = envelope;
  const { failure, info } = await new Promise<Ended>((resolve) => {
    const sent = { from: asciiAddress(from), to: to.map(asciiAddress), size: contents.size };
    connection.smtp.send(sent, stream, (failure, info) => resolve({ failure, info }));
  });
  if (!failure && info) {
    connections.keep(connection);
    return { outcome: 'taken', refusals: refusalsOf(info.rejectedErrors ?? [], to), reply: readReply(info.response) };
  }
  connections.drop(connection);
  stream.destroy();
  const error: SmtpError = failure ?? new Error('no reply');
  // The last step writes the record of the message, and so does the caller after this.
  const mayLeave = await lastStep;
  if (mayLeave === false) return { outcome: 'stopped' };
  // A failure of reading the mail is one of ours, and says nothing about the server.
  if (error.code === 'ESTREAM') throw error.cause ?? error;
  return afterFailure(error, envelope, hasLeft);
}

/** The error of a stream whose contents must not leave. */
class Stopped extends Error {}

function afterFailure(error: SmtpError, { to }: Envelope, hasLeft: boolean): HandOver {
  // A closing server says 421, which refuses nothing.
  const isReply = error.response !== undefined && !error.response.startsWith('421');
  const isTooLarge = error.code === 'EMESSAGE' && error.command === 'MAIL FROM';
  if (error.rejectedErrors && error.rejectedErrors.length > 0) {
    const refusals = refusalsOf(error.rejectedErrors, to);
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

/** @param to the recipients as the message has them. */
function refusalsOf(errors: readonly SmtpError[], to: readonly string[]): Refusal[] {
  return errors.flatMap(({ recipient, response, message }) => {
    const reply = response === undefined ? withoutReply(message) : readReply(response);
    return to.filter((address) => asciiAddress(address) === recipient).map((address) => ({ address, reply }));
  });
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
