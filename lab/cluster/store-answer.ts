// Asks a store whether it answers, over a connection of its own: MongoDB as a primary, Redis to PING.
import { connect } from 'node:net';

export type Store = 'mongodb' | 'redis';

const LIMIT_MS = 2_000;

/** OP_MSG { hello: 1, $db: "admin" }: the bytes of the probe in deploy/kubernetes/components/stores/mongodb.yaml. */
const HELLO = Buffer.from(
  '340000000100000000000000dd07000000000000001f0000001068656c6c6f000100000002246462000600000061646d696e0000',
  'hex',
);
const QUESTIONS = {
  mongodb: { ask: HELLO, answer: 'isWritablePrimary\0\x01' },
  redis: { ask: Buffer.from('AUTH health none\r\nPING\r\n'), answer: '+PONG' },
};

export function isAnswering(store: Store, host: string, port: number): Promise<boolean> {
  const { ask, answer } = QUESTIONS[store];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: LIMIT_MS });
  const end = (isThere: boolean) => {
    socket.destroy();
    resolve(isThere);
  };
  socket.on('connect', () => socket.write(ask));
  let text = '';
  socket.on('data', (data) => {
    text += data.toString('latin1');
    const isThere = text.includes(answer);
    // The login may be answered first.
    if (isThere || !text.endsWith('+OK\r\n')) end(isThere);
  });
  for (const event of ['error', 'close', 'timeout']) socket.on(event, () => end(false));
  return promise;
}
