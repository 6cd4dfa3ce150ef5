// Keeps the hours of an invoice with it when it is issued, and announces that its work is billed.
import { chunk } from 'es-toolkit/array/chunk';
import { readAccount } from '../../models/accounts/account.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { ISSUED_ENTRIES_MAX, IssuedTime, type IssuedTimeRecord } from '../../models/billing/issued-time.ts';
import { insertOwn } from '../../models/records.ts';
import { newId, storedId } from '../../models/tenant.ts';
import { announceExpenses } from '../expenses/bill-expenses.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { announceEntries } from './claim-time.ts';
import { type BilledTime, billedTime } from './hours-of-invoice.ts';
import { changeWork, EXPENSES, TIME, type WorkKind, workOn } from './work-records.ts';

/** Changes the work of a draft that is issued from `on_draft` to `billed`. @param invoice in its issued form. */
export async function issueWork(unit: UnitOfWork, invoice: InvoiceRecord): Promise<void> {
  if (!invoice.time && !invoice.expenses) return;
  const { locale } = await readAccount(unit.accountId, unit.session);
  await keepIssuedTime(unit, invoice, locale);
  if (invoice.time) await announceEntries(unit, await touched(TIME, unit, invoice));
  if (invoice.expenses) await announceExpenses(unit, await touched(EXPENSES, unit, invoice));
}

/**
 * Keeps the hours behind each line with an issued invoice, so that they can be read even after a correction made them
 * free again.
 */
export async function keepIssuedTime(unit: UnitOfWork, invoice: InvoiceRecord, locale: string): Promise<void> {
  if (!invoice.time) return;
  const { isEdited, lines } = await billedTime(invoice, unit, locale);
  for (const line of lines) {
    for (const [part, entries] of chunk([...line.entries], ISSUED_ENTRIES_MAX).entries()) {
      await insertOwn(IssuedTime, issuedRecord(invoice, { line, part, entries, isEdited }), unit.session);
    }
  }
}

function issuedRecord(
  { _id, account_id }: InvoiceRecord,
  {
    line,
    part,
    entries,
    isEdited,
  }: {
    line: BilledTime['lines'][number];
    part: number;
    entries: BilledTime['lines'][number]['entries'];
    isEdited: boolean;
  },
): IssuedTimeRecord {
  const { id, at, description, rate, rounding, prepaid } = line;
  return {
    _id: storedId(newId()),
    account_id,
    invoice_id: _id,
    line: id,
    part,
    is_edited: isEdited,
    at,
    description,
    rate,
    rounding,
    prepaid,
    entries: entries.map(({ id, date, seconds, decimals, description, member, project, task, rateFrom }) => ({
      id,
      date,
      seconds,
      decimals,
      description,
      member,
      project,
      task,
      rate_from: rateFrom === 'none' ? undefined : rateFrom,
    })),
  };
}

/** Returns all records of the invoice, with the time of the change. */
async function touched<Stored extends Parameters<typeof changeWork>[2]['work'][number]>(
  kind: WorkKind<Stored>,
  unit: UnitOfWork,
  { _id }: InvoiceRecord,
): Promise<Stored[]> {
  const work = await workOn(kind, unit, { invoice_id: _id });
  const updated_at = await changeWork(kind, unit, { work, when: { invoice_id: _id } });
  return work.map((one) => ({ ...one, updated_at }));
}
