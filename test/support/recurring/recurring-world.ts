// Accounts in many time zones with recurring invoices, and what must be there after so many months.

import { Account } from '#libs/models/accounts/account.ts';
import { Client, searchOf } from '#libs/models/accounts/client.ts';
import { Invoice, type InvoiceRecord } from '#libs/models/billing/invoice.ts';
import { NumberLedger } from '#libs/models/billing/number-ledger.ts';
import { RecurringInvoice, type RecurringInvoiceRecord } from '#libs/models/billing/recurring-invoice.ts';
import { RecurringRun } from '#libs/models/billing/recurring-run.ts';
import { acrossAccounts, newId, newRecord } from '#libs/models/tenant.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { occurrence } from '#libs/rules/time/recurrence.ts';

/** From the first to the last midnight of a day, with and without a change of clocks. */
const ZONES = ['Pacific/Kiritimati', 'Asia/Tokyo', 'Europe/Berlin', 'UTC', 'America/New_York', 'Pacific/Honolulu'];
const ADA = { name: 'Ada Lovelace', email: 'ada@example.com' };

export interface RecurringWorld {
  accounts: string[];
  definitions: RecurringInvoiceRecord[];
}

/** @param first `YYYY-MM-DD`, the day of the first occurrence of each. */
export async function openRecurringWorld(size: {
  accounts: number;
  definitions: number;
  first: string;
}): Promise<RecurringWorld> {
  const accounts = Array.from({ length: size.accounts }, newId);
  const definitions: RecurringInvoiceRecord[] = [];
  for (const [index, id] of accounts.entries()) {
    await Account.create({ _id: id, name: 'Agency', time_zone: ZONES[index % ZONES.length] ?? 'UTC' });
    const client = { ...newRecord(id), ...ADA, search: searchOf(ADA), status: 'invited' };
    await Client.create(client);
    const mine = Array.from({ length: Math.ceil(size.definitions / size.accounts) }, () => ({
      ...newRecord(id),
      client_id: client._id,
      project_id: null,
      currency: 'EUR',
      tax_rate: null,
      description: null,
      line_items: [{ description: 'Support {month}', qty: '1', rate: '450', discount: '0' }],
      schedule: { every: 1, unit: 'month' as const, start_on: size.first },
      due_days: null,
      create_as: 'Sent' as const,
      include_time: null,
      status: 'Active' as const,
      first_occurrence: 0,
      next_index: 0,
      next_on: size.first,
      made: 0,
    }));
    definitions.push(...mine.slice(0, size.definitions - definitions.length));
  }
  await RecurringInvoice.insertMany(definitions);
  return { accounts, definitions };
}

/** How many of their occurrences were made. */
export async function countMade({ accounts }: RecurringWorld): Promise<number> {
  return RecurringRun.countDocuments({ account_id: { $in: accounts } }).setOptions(acrossAccounts);
}

/** @returns a sentence for each promise that is broken after so many occurrences of each. */
export async function brokenOccurrences({ accounts, definitions }: RecurringWorld, months: number): Promise<string[]> {
  const broken: string[] = [];
  for (const account_id of accounts) {
    const mine = definitions.filter((one) => String(one.account_id) === account_id);
    const invoices = await Invoice.find({ account_id }).sort({ number: 1 }).lean<InvoiceRecord[]>();
    for (const { _id, schedule } of mine) {
      const made = invoices
        .flatMap(({ recurring }) => (String(recurring?.id) === String(_id) && recurring ? [recurring] : []))
        .toSorted((one, other) => one.occurrence - other.occurrence)
        .map((one) => `${one.occurrence} ${one.period_from}`);
      const wanted = Array.from({ length: months }, (_, index) => `${index + 1} ${occurrence(schedule, index)?.on}`);
      if (made.join() !== wanted.join()) broken.push(`${_id} has ${made.join(', ')}`);
    }
    const total = mine.length * months;
    const numbers = invoices.map(({ number }) => number);
    if (numbers.join() !== Array.from({ length: total }, (_, index) => index + 1).join()) {
      broken.push(`the numbers of ${account_id} are not 1 to ${total}: ${numbers.join(' ')}`);
    }
    const events = await Event.find({ account_id }, { type: 1, sequence: 1 }).sort({ sequence: 1 }).lean();
    const counts = {
      runs: await RecurringRun.countDocuments({ account_id }),
      'drawn numbers': await NumberLedger.countDocuments({ account_id }),
      'events of invoices': events.filter(({ type }) => type === 'invoice.created').length,
      'events of runs': events.filter(({ type }) => type === 'recurring_invoice.ran').length,
    };
    for (const [name, count] of Object.entries(counts)) {
      if (count !== total) broken.push(`${account_id} has ${count} ${name} instead of ${total}`);
    }
    if (events.some(({ sequence }, index) => sequence !== index + 1)) broken.push(`${account_id} lacks an event`);
  }
  return broken;
}
