// The rounds of the scheduler, run in the process of a test: their commands to MongoDB are judged as those of the service.
import * as followUps from '../../services/scheduler/announce-all-follow-ups.ts';
import * as expirations from '../../services/scheduler/emit-expirations.ts';
import * as reminders from '../../services/scheduler/plan-reminders.ts';
import * as recurring from '../../services/scheduler/run-recurring-invoices.ts';
import { asSystem } from './shards/watch-commands.ts';

export const announceAllFollowUps = (...parts: Parameters<typeof followUps.announceAllFollowUps>) =>
  asSystem(() => followUps.announceAllFollowUps(...parts));
export const emitExpirations = (...parts: Parameters<typeof expirations.emitExpirations>) =>
  asSystem(() => expirations.emitExpirations(...parts));
export const planReminders = (...parts: Parameters<typeof reminders.planReminders>) =>
  asSystem(() => reminders.planReminders(...parts));
export const runRecurringInvoices = (...parts: Parameters<typeof recurring.runRecurringInvoices>) =>
  asSystem(() => recurring.runRecurringInvoices(...parts));
