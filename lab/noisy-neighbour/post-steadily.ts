// A neighbour that keeps as many requests in flight as it is let, one after the other on each connection, and does not heed a rejection.
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface Target {
  url: string;
  /** A key of the neighbour's account with all scopes. */
  key: string;
  accountId: string;
  /** Further keys of the account. */
  moreKeys: string[];
  signal: AbortSignal;
  /** Called when what the attack needs is made, and it begins. */
  begin(): void;
}

/** Goes on until the signal is aborted. @returns how many requests or connections it made. */
export type Attack = (target: Target) => Promise<number>;

/** The rate that the limits allow an account: 12,000 a minute over all its keys. Rejected requests count, too, so the neighbour keeps to it from the first rejection on. */
export const REQUESTS_PER_SECOND = 200;

/** Its keys take turns: an account may do twice as much as one of its keys. */
export function postSteadily(path: string, makeBody: () => string, atOnce: number): Attack {
  return async ({ url, moreKeys, signal, begin }) => {
    const body = Buffer.from(makeBody());
    begin();
    const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce });
    let count = 0;
    const loop = async () => {
      while (!signal.aborted) {
        const key = moreKeys[count % moreKeys.length] as string;
        count += 1;
        const status = await post(new URL(path, url), { key, body, agent, signal });
        if (status >= 300 || status === 0) await pause((1_000 * atOnce) / REQUESTS_PER_SECOND);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, loop));
    agent.destroy();
    return count;
  };
}

/** @returns the status; 0 when the connection ended before. */
function post(
  url: URL,
  { key, body, agent, signal }: { key: string; body: Buffer; agent: http.Agent; signal: AbortSignal },
): Promise<number> {
  return new Promise((resolve) => {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
    };
    const request = http.request(url, { method: 'POST', agent, headers, signal }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    request.once('error', () => resolve(0)).end(body);
  });
}
