// The mail service's attempts in this process, at a real SMTP server that keeps what it takes.
import { openSecretBox } from '#libs/secret-box.ts';
import { makeMailOf } from '../../services/mail/make-mail.ts';
import { makeSendMessage } from '../../services/mail/send-message.ts';
import { openConnections } from '../../services/mail/smtp/connections.ts';
import { openOwnConnections } from '../../services/mail/smtp/own-connections.ts';
import { serverOf } from '../../services/mail/smtp/smtp-url.ts';
import { makeWayOf } from '../../services/mail/way-out.ts';
import { openSmtpRelay, type Relay } from './smtp-relay.ts';
import { testLog, type Workspace } from './workspace.ts';

/** Longer than a busy machine takes for a step: the server never hangs. */
const TIMEOUT_MS = 30_000;
/** A minute lasts less than a millisecond, and two days a minute. */
const SCALE = 0.000_3;

export interface MailAttempts {
  relay: Relay;
  /** Makes the attempt of a message that is due. */
  attempt(accountId: string, messageId: string): Promise<void>;
  close(): Promise<void>;
}

/** @param print stands in for the renderer. */
export async function openMailAttempts<Document>(
  { secretKey }: Pick<Workspace, 'secretKey'>,
  print: (wanted: { document: Document }) => Promise<{ bytes: Buffer; warnings: never[] }>,
): Promise<MailAttempts> {
  const relay = await openSmtpRelay();
  const connections = openConnections(serverOf(relay.url), { name: 'mail.example.com', timeoutMs: TIMEOUT_MS });
  const dial = async () => Promise.reject(new Error('no account has a server of its own'));
  const own = openOwnConnections({ dial, box: openSecretBox(secretKey), timeoutMs: TIMEOUT_MS });
  const sender = { address: 'billing@example.com', domain: 'example.com' };
  const send = makeSendMessage({
    wayOf: makeWayOf({ connections, sender, bounceDomain: undefined }, own),
    mailOf: makeMailOf({
      from: sender.address,
      print: print as never,
      markdown: { toHtml: async (text) => text },
      portalUrl: 'https://portal.example.com',
    }),
    leaseMs: 60_000,
    retryScale: SCALE,
    onEvents: () => undefined,
    onOutcome: () => undefined,
  });
  const job = { log: testLog, signal: new AbortController().signal, isFirstRun: false };
  return {
    relay,
    attempt: (accountId, messageId) => send({ messageId, accountId }, job as never),
    async close() {
      connections.close();
      await relay.close();
    },
  };
}
