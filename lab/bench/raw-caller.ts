// A cheap HTTP caller for measurements. Node's own client takes 0.2 ms of processor for a refusal and 0.6 ms for a document, on the
// processors that print meanwhile. This one writes a request that is made once and reads what it needs: a third to a half of that.
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  status: number;
  /** The Retry-After of a rejection. */
  retryAfterSeconds: number;
}

export interface RawCaller {
  /** One call at a time on a connection, with as many connections as needed. Resolves when the whole response has arrived. */
  post(key: string): Promise<RawAnswer>;
  close(): void;
}

const HEAD_END = '\r\n\r\n';
/** Well below the server's keep-alive timeout of 65 s: a connection that closes while a request is sent is lost. */
const IDLE_LIMIT_MS = 30_000;

/** @param url of the gateway. @param body of every call. */
export function openRawCaller(url: string, path: string, body: Buffer): RawCaller {
  const { host, hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const idle: { socket: Socket; since: number }[] = [];
  const errors = new WeakMap<Socket, string>();
  const requests = new Map<string, Buffer>();

  function requestWith(key: string): Buffer {
    const known = requests.get(key);
    if (known) return known;
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: ${host}`,
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ].join('\r\n');
    const request = Buffer.concat([Buffer.from(head + HEAD_END), body]);
    requests.set(key, request);
    return request;
  }

  function take(): Socket {
    for (let last = idle.pop(); last; last = idle.pop()) {
      if (!last.socket.destroyed && performance.now() - last.since < IDLE_LIMIT_MS) return last.socket;
      last.socket.destroy();
    }
    const socket = connect(Number(port), hostname).setNoDelay(true);
    open.add(socket);
    // An idle connection may close; it is not used again.
    return socket
      .on('error', (error: NodeJS.ErrnoException) => errors.set(socket, error.code ?? error.message))
      .once('close', () => open.delete(socket));
  }

  return {
    post: (key) =>
      new Promise((resolve, reject) => {
        const socket = take();
        let head = '';
        let left = Number.POSITIVE_INFINITY;
        const fail = () => {
          const why = errors.get(socket) ?? 'closed';
          reject(new Error(`${why} ${head === '' ? 'before an answer' : `within the answer: ${head.slice(0, 200)}`}`));
        };

        function read(bytes: Buffer) {
          if (left < Number.POSITIVE_INFINITY) left -= bytes.length;
          else {
            head += bytes.toString('latin1');
            const end = head.indexOf(HEAD_END);
            if (end < 0) return;
            const length = /^content-length: (\d+)$/im.exec(head)?.[1];
            if (length === undefined) return socket.destroy();
            left = Number(length) - (head.length - end - HEAD_END.length);
            head = head.slice(0, end);
          }
          if (left > 0) return;
          socket.off('data', read).off('close', fail);
          idle.push({ socket, since: performance.now() });
          const retryAfter = /^retry-after: (\d+)$/im.exec(head)?.[1];
          resolve({ status: Number(head.slice(9, 12)), retryAfterSeconds: Number(retryAfter ?? Number.NaN) });
        }

        socket.on('data', read).once('close', fail);
        socket.write(requestWith(key));
      }),
    close() {
      for (const socket of open) socket.destroy();
    },
  };
}
