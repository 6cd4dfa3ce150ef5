// Checks that hold for an account after any movements in any order: sums, links, and everything that happens once.
import { auditBilledOnce } from '#libs/billing/audits/billed-once-audit.ts';
import { auditLedger } from '#libs/billing/audits/ledger-audit.ts';
import { auditTimers } from '#libs/billing/audits/timer-audit.ts';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { compareCounts } from '#libs/models/recount.ts';
import { TimeEntry } from '#libs/models/time/time-entry.ts';
import { Event } from '#libs/models/webhooks/event.ts';
import { REVERSING } from '#libs/rules/credits/credit-reasons.ts';
import { examineMongodb } from '../../../services/admin/doctor-stores.ts';
import { examineTotals } from '../../../services/admin/doctor-totals.ts';
import type { AnyRecord } from '../crashes/billing-world.ts';
import type { LedgerWorld } from './ledger-world.ts';

/** @returns a sentence for each promise that is broken: what `doctor` looks at. */
export async function brokenSums({ account: { id } }: LedgerWorld): Promise<string[]> {
  const rows = [...(await auditLedger(id)), ...(await auditBilledOnce(id)), ...(await auditTimers(id))];
  const counts = (await compareCounts(id)).flatMap(({ wrong = [] }) => wrong);
  return [...rows.map((row) => `${row.problem} (${row.id})`), ...counts.map((name) => `totals of lists: ${name}`)];
}

/** @returns what `admin doctor` finds wrong with the records of all accounts. No service relays events here, so the outbox waits. */
export async function doctorsProblems(): Promise<string[]> {
  const findings = [...(await examineMongodb()), ...(await examineTotals())];
  return findings
    .filter(({ status, check }) => (status === 'problem' || status === 'unknown') && check !== 'Outbox')
    .map(({ check, found }) => `doctor: ${check}: ${found}`);
}

/** @returns a sentence for each promise that is broken: also those that only the whole account shows. */
export async function brokenPromises(world: LedgerWorld): Promise<string[]> {
  const account_id = world.account.id;
  const payments: AnyRecord[] = await Payment.find({ account_id }).lean();
  const invoices: AnyRecord[] = await Invoice.find({ account_id }).lean();
  const notes: AnyRecord[] = await CreditNote.find({ account_id }).lean();
  const entries: AnyRecord[] = await TimeEntry.find({ account_id }).lean();
  const events: AnyRecord[] = await Event.find({ account_id }, { sequence: 1 }).sort({ sequence: 1 }).lean();
  const refunds = [...payments, ...notes].flatMap((record) => record.refunds as AnyRecord[]);
  const live = invoices.filter(({ status }) => status !== 'Cancelled');
  const audit = (await world.send('GET', '/numbering/audit')).body.data;
  return [
    ...(await brokenSums(world)),
    ...(await doctorsProblems()),
    ...(await otherMoney(world, { payments, invoices, notes })),
    ...repeated('payment with external_id', payments, 'external_id'),
    ...repeated('refund with external_id', refunds, 'external_id'),
    ...repeated('invoice that bills all of quote', live, 'quote_claim'),
    ...otherHours(live, entries, notes),
    ...(events.every(({ sequence }, index) => sequence === index + 1) ? [] : ['events: a sequence is missing']),
    ...(audit.gapless ? [] : [`numbers: ${JSON.stringify(audit)}`]),
  ];
}

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

/**
 * Checks that money beyond what was due, less what went back, is on invoices or is credit. The client's balance must agree.
 */
async function otherMoney(
  { send, client_id }: LedgerWorld,
  { payments, invoices, notes }: Record<'payments' | 'invoices' | 'notes', AnyRecord[]>,
): Promise<string[]> {
  const received = payments.filter(({ status }) => status === 'Received');
  const back = ({ refunds }: AnyRecord) => sum(refunds.map(({ amount }: AnyRecord) => amount));
  const total = (one: AnyRecord) => one.amount + one.tax_amount + (one.rounding_amount ?? 0);
  const applied = sum(invoices.map(({ amount_credited = 0 }) => amount_credited));
  const freed = sum(notes.map((note) => total(note) - back(note))) - applied;
  const kept = sum(received.map((payment) => payment.amount - back(payment))) + freed;
  const credit = sum([...received, ...notes].map(({ unallocated }) => unallocated));
  const paid = sum(invoices.map(({ amount_paid }) => amount_paid));
  const due = sum(
    invoices
      .filter(({ status }) => status === 'Sent')
      .map((one) => total(one) - one.amount_paid - (one.amount_credited ?? 0) - (one.amount_written_off ?? 0)),
  );
  const { balances } = (await send('GET', `/clients/${client_id}/balance`)).body.data;
  const told = { due: Math.round((balances[0]?.due ?? 0) * 100), credit: Math.round((balances[0]?.credit ?? 0) * 100) };
  return [
    ...(paid + credit === kept
      ? []
      : [`money: ${kept} came or was credited, ${paid} is on invoices and ${credit} is credit`]),
    ...(told.credit === credit ? [] : [`balance: credit ${told.credit}, not ${credit}`]),
    ...(told.due === due ? [] : [`balance: due ${told.due}, not ${due}`]),
  ];
}

function repeated(what: string, records: readonly AnyRecord[], field: string): string[] {
  const groups = Map.groupBy(
    records.filter((record) => record[field] !== undefined),
    (record) => String(record[field]),
  );
  return [...groups].flatMap(([value, { length }]) => (length > 1 ? [`${length} times one ${what} ${value}`] : []));
}

/** A quantity has four decimals. */
const LINE_ROUNDING = 0.000_05;

/**
 * The lines of time bill the hours of their entries: no more when an entry went to another invoice, no less. What was corrected of single
 * entries is free again.
 */
function otherHours(live: readonly AnyRecord[], entries: readonly AnyRecord[], notes: readonly AnyRecord[]): string[] {
  return live.flatMap((invoice) => {
    if (!invoice.time || invoice.time.is_edited) return [];
    const own = entries.filter(({ invoice_id }) => String(invoice_id) === String(invoice._id));
    // Seconds are billed. An entry's hours are rounded, those of a timer of a few seconds by much.
    const hours = sum(own.map(({ seconds }) => seconds)) / 3_600;
    const places: number[] = invoice.time.lines.map(({ at }: AnyRecord) => at);
    const lines = places.map((at) => invoice.line_items[at]);
    const freed = notes
      .filter(({ invoice_id, time_entry_ids }) => time_entry_ids?.length && String(invoice_id) === String(invoice._id))
      .filter(({ reason }) => REVERSING.includes(reason))
      .flatMap(({ line_items }) => line_items as AnyRecord[])
      .filter(({ line }) => places.includes(line - 1));
    const billed = sum(lines.map(({ qty }) => Number(qty))) - sum(freed.map(({ qty }) => Number(qty)));
    return Math.abs(billed - hours) < LINE_ROUNDING * (lines.length + 1)
      ? []
      : [`invoice ${invoice.number}: bills ${billed} hours of ${hours}`];
  });
}
