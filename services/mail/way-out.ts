// The way of a message out of the house: the SMTP server of the installation, or that of its account.
import { findMailServer } from '#libs/models/messages/mail-server.ts';
import type { MessageRecord } from '#libs/models/messages/message.ts';
import { wireId } from '#libs/models/tenant.ts';
import { returnPathOf, type Sender } from './sender.ts';
import type { Connections } from './smtp/connections.ts';
import type { OwnConnections } from './smtp/own-connections.ts';

interface Way {
  connections: Connections;
  /** The address to which a delivery report goes. */
  returnPath: string;
}

/**
 * - `notYet`: it can be there later.
 * - `senderGone`: the server of its account was deleted, and another message has to take its place.
 */
export type WayOf = (message: MessageRecord) => Promise<Way | { notYet: string } | { senderGone: true }>;

export interface InstallationWay {
  connections: Connections;
  sender: Sender;
  bounceDomain: string | undefined;
}

/** @param installation undefined without SMTP_URL. */
export function makeWayOf(installation: InstallationWay | undefined, own: OwnConnections): WayOf {
  return async (message) => {
    const messageId = wireId(message._id);
    if (message.sender === undefined) {
      if (!installation) return { notYet: 'The installation has no mail server' };
      const { connections, sender, bounceDomain } = installation;
      return { connections, returnPath: returnPathOf(messageId, sender, bounceDomain) };
    }
    const server = await findMailServer(wireId(message.account_id));
    if (!server) return { senderGone: true };
    const returnPath = returnPathOf(messageId, { address: server.from }, server.bounce_domain);
    try {
      return { connections: own.to(server), returnPath };
    } catch {
      return { notYet: 'The password of the mail server cannot be read' };
    }
  };
}
