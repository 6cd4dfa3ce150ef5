// The time behind the lines of an invoice as the renderer prints it: hours as they are billed, nothing is computed anew.
import type { BilledTime, BilledTimeLine } from '../billing/work/hours-of-invoice.ts';
import type { PrintableTimeEntry, PrintableTimeLine } from '../jobs/printable-document.ts';
import { fromMinor, lineNet } from '../rules/money/money.ts';
import type { TimeToBill } from '../rules/time/time-lines.ts';
import { billedSeconds, hoursQuantity } from '../rules/time/time-rounding.ts';

/** Returns the lines of time to print. Lines that were edited by hand have only hours: their amounts are on the invoice. */
export function printableTime({ isEdited, lines }: BilledTime, currency: string): PrintableTimeLine[] {
  return lines.map((line) => {
    const places = new Set(line.entries.map(placeOf));
    const [only] = places.size === 1 ? places : [];
    return {
      description: line.description,
      ...(only && !isNamedIn(only, line.description) ? { place: only } : {}),
      hours: hoursQuantity(line.seconds),
      billed: line.qty,
      ...(isEdited ? {} : { rate: line.rate, amount: fromMinor(lineNet(line, currency), currency) }),
      entries: line.entries.map((entry) => printableEntry(entry, line, only === undefined)),
    };
  });
}

function printableEntry(entry: TimeToBill, { rounding }: BilledTimeLine, hasPlace: boolean): PrintableTimeEntry {
  const { date, seconds, description, member } = entry;
  const text = [member, description].filter(Boolean).join(': ');
  const isRoundedAlone = rounding === null || rounding.scope === 'entry';
  return {
    date,
    ...(hasPlace ? { place: placeOf(entry) } : {}),
    ...(text ? { description: text } : {}),
    hours: hoursQuantity(seconds),
    ...(isRoundedAlone ? { billed: hoursQuantity(billedSeconds([entry], rounding)) } : {}),
  };
}

function placeOf({ project, task }: TimeToBill): string {
  return task ? `${project.name}: ${task.name}` : project.name;
}

function isNamedIn(place: string, description: string): boolean {
  return description.includes(place);
}
