// One HTTP request by Node's own client, which takes a third of the processor time of `fetch`.
import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface Sent {
  method: string;
  headers?: Record<string, string>;
  body?: string | Buffer | undefined;
  agent?: Agent;
  /** Ends the request after so many milliseconds. */
  limitMs?: number;
}

export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

const kept = new Agent({ keepAlive: true });

/** Sends a request on a connection that is kept, and follows no redirect. @throws when there is no whole response. */
export function send(url: string, { method, headers, body, agent = kept, limitMs }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const sending = request(url, { method, headers: { ...length, ...headers }, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        clearTimeout(limit);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) });
      });
    });
    const limit = limitMs && setTimeout(() => sending.destroy(new Error('no answer')), limitMs);
    sending.on('error', (error) => {
      clearTimeout(limit);
      reject(error);
    });
    sending.end(body);
  });
}
