// A scheduler for one round that is killed when it enters the run of one recurring invoice. Arguments: address, id, time.
import { RecurringRun } from '#libs/models/billing/recurring-run.ts';
import { connectMongo } from '#libs/mongo/connection.ts';
import { makeLogger } from '#libs/service/logger.ts';
import { runRecurringInvoices } from '../../services/scheduler/run-recurring-invoices.ts';

const [, , mongodbUri = '', deadly = '', at = ''] = process.argv;

const { collection } = RecurringRun;
const insertOne = collection.insertOne.bind(collection);
collection.insertOne = ((document: { recurring_id: unknown }, ...rest: never[]) => {
  if (String(document.recurring_id) === deadly) process.kill(process.pid, 'SIGKILL');
  return insertOne(document as never, ...rest);
}) as never;

const close = await connectMongo(mongodbUri, { log: makeLogger('scheduler', 'silent') });
await runRecurringInvoices(new Date(at)).catch(() => undefined);
await close();
process.exit();
