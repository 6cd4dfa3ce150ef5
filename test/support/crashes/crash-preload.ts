// Loaded into a service before its own code: kills the process at a step of a transaction, or prints the steps of each one.
// It watches the commands that the driver sends, so that production code knows nothing of it.
import mongoose from 'mongoose';
import { CRASH_AT, parseCrashPoint, STEPS_OF, stepOf } from './crash-points.ts';

const point = parseCrashPoint(process.env[CRASH_AT]);
const uri = process.env['MONGODB_URI'] ?? '';
process.env['MONGODB_URI'] = `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`;

type Command = Record<string, unknown> & { lsid?: { id: unknown }; txnNumber?: unknown; autocommit?: boolean };

/** Steps of the open transactions, by session. A transaction that begins again counts anew. */
const transactions = new Map<string, { number: string; steps: string[] }>();
let committed = 0;
/** Commands without an answer, by request. */
const sent = new Map<number, { session: string; step: string; count: number }>();
const watched = new WeakSet<object>();

mongoose.connection.on('connected', () => {
  const client = mongoose.connection.getClient();
  if (watched.has(client)) return;
  watched.add(client);
  client.on('commandStarted', ({ requestId, commandName, command }) => {
    const { lsid, txnNumber, autocommit } = command as Command;
    if (autocommit !== false || !lsid) return;
    const session = String(lsid.id);
    const number = String(txnNumber);
    const known = transactions.get(session);
    const transaction = known?.number === number ? known : { number, steps: [] };
    transactions.set(session, transaction);
    const step = stepOf(commandName, command);
    transaction.steps.push(step);
    const count = transaction.steps.length;
    sent.set(requestId, { session, step, count });
    if (isPoint('before', step, count)) process.kill(process.pid, 'SIGKILL');
  });
  client.on('commandSucceeded', ({ requestId }) => {
    const answered = sent.get(requestId);
    if (!answered) return;
    sent.delete(requestId);
    const { session, step, count } = answered;
    if (isPoint('after', step, count)) process.kill(process.pid, 'SIGKILL');
    if (step !== 'commitTransaction') return;
    committed += 1;
    if (!point) process.stdout.write(`${STEPS_OF}${JSON.stringify(transactions.get(session)?.steps)}\n`);
    transactions.delete(session);
  });
  client.on('commandFailed', ({ requestId }) => void sent.delete(requestId));
});

function isPoint(when: 'before' | 'after', step: string, count: number): boolean {
  // The services that have points of a certain transaction run one at a time.
  if (point?.of !== undefined && point.of !== committed + 1) return false;
  return point?.when === when && (point.step === step || point.step === `#${count}`);
}
