// Connects to the mail server of an account, at an address that was checked, and checks the address of the connection again.
import { connect, isIP, type Socket } from 'node:net';
import { type MailPlace, mailAddresses } from './mail-place.ts';
import { parseAllowList } from './public-address.ts';
import { makeResolve, type Resolve } from './resolve-host.ts';
import { isPrivateName, judge, objectionToMailServer } from './target-rules.ts';

/**
 * Returns a connection over which nothing was said. The name is resolved once.
 * @throws OutboundRefused, or the error of the connection.
 */
export type DialMailServer = (place: MailPlace, limitMs: number) => Promise<Socket>;

/** @param options as those of openOutbound. */
export function openMailDialler(options: { allow: string; resolve?: Resolve }): DialMailServer {
  const allowList = parseAllowList(options.allow);
  const resolve = options.resolve ?? makeResolve({ isLocal: isPrivateName });
  return async ({ host, port }, limitMs) => {
    const startedAt = performance.now();
    const addresses = await mailAddresses({ host, port }, { allowList, resolve, limitMs });
    const leftMs = Math.max(1, limitMs - (performance.now() - startedAt));
    const socket = connect({
      host,
      port,
      autoSelectFamily: true,
      // Node calls no lookup for a host that is already an address, which mailAddresses has checked.
      lookup: (_name, { all }, answer) => {
        const checked = addresses.map((address) => ({ address, family: isIP(address) }));
        const [first] = checked;
        if (all || !first) answer(null, checked);
        else answer(null, first.address, first.family);
      },
    });
    await connected(socket, leftMs);
    try {
      judge([socket.remoteAddress ?? ''], objectionToMailServer({ host, port }), allowList);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return socket;
  };
}

function connected(socket: Socket, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error('The connection took too long')), limitMs);
    socket.once('connect', resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('The connection was closed')));
    socket.once('connect', () => clearTimeout(timer));
    socket.once('close', () => clearTimeout(timer));
  });
}
