// A scheduler whose time its parent sets: makes what is due then, again and again, until it is killed. Its address is the first argument.
import { connectMongo } from '#libs/mongo/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { runRecurringInvoices } from '../../../services/scheduler/run-recurring-invoices.ts';

const PAUSE_MS = 20;

await connectMongo(process.argv[2] ?? '', { log: makeLogger('scheduler', 'silent') });
let at: Date | undefined;
// The services take the clock of the stores for theirs when their own is wrong by more than two seconds: so the time is handed over.
process.on('message', (time: number) => (at = new Date(time)));
process.send?.('ready');
for (;;) {
  const now = at;
  // An invoice fails when another scheduler made it, or a killed one left its transaction open. A later round makes it.
  const round = now && (await runRecurringInvoices(now).catch(() => undefined));
  if (now && round?.made === 0) process.send?.(now.getTime());
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
