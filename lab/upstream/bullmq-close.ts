// BullMQ: close() of a worker never resolves while Redis is unreachable. https://github.com/taskforcesh/bullmq/issues/4656
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'bullmq';

/** Nothing listens there. */
const NOWHERE = { host: '127.0.0.1', port: 1, maxRetriesPerRequest: null };
const LIMIT_MS = 5_000;

const worker = new Worker('upstream', async () => undefined, { connection: NOWHERE });
worker.on('error', () => undefined);
await pause(500);
const isClosed = await Promise.race([worker.close().then(() => true), pause(LIMIT_MS, false)]);
const verdict = isClosed
  ? 'repaired: close() resolved'
  : `still there: close() had not resolved after ${LIMIT_MS / 1_000} s`;
process.stdout.write(`bullmq, worker.close() without Redis: ${verdict}\n`);
process.exit();
