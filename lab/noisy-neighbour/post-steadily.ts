// A hostile account that keeps as many requests in flight as it is let, one after the other on each connection.
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface Target {
  url: string;
  /** Of the hostile account, which may do everything. */
  key: string;
  accountId: string;
  /** Further keys of the account. */
  moreKeys: string[];
  signal: AbortSignal;
}

/** Goes on until the signal is aborted. @returns how many requests or connections it made. */
export type Attack = (target: Target) => Promise<number>;

/** Between two refused requests: an account that retries at once spends its own processor only. */
const REFUSED_PAUSE_MS = 20;

export function postSteadily(path: string, makeBody: () => string, atOnce: number): Attack {
  return async ({ url, key, signal }) => {
    const body = Buffer.from(makeBody());
    const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce });
    let count = 0;
    const loop = async () => {
      while (!signal.aborted) {
        count += 1;
        const status = await post(new URL(path, url), { key, body, agent, signal });
        if (status !== 200) await pause(REFUSED_PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, loop));
    agent.destroy();
    return count;
  };
}

/** @returns the status; 0 when the connection ended before. */
export function post(
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
