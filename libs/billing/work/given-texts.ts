// The texts of a draft's lines. A text or unit that the caller changed stays, while the sums still follow the work.

import { omit } from 'es-toolkit/object/omit';
import { isEqual } from 'es-toolkit/predicate/isEqual';
import { readAccount } from '../../models/accounts/account.ts';
import { embeddedIn } from '../../models/billing/embedded.ts';
import { Invoice, type InvoiceRecord, invoiceView } from '../../models/billing/invoice.ts';
import type { GivenLineText, InvoiceTime } from '../../models/billing/invoice-time.ts';
import { changeOwn, findOwn } from '../../models/records.ts';
import type { TimeEntryRecord } from '../../models/time/time-entry.ts';
import type { LineItem } from '../../rules/documents/line-item.ts';
import { namesDescription, timeLine } from '../../rules/time/time-lines.ts';
import { requirePrintableContent } from '../documents/printable-size.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { formOfLine, timeByLine } from './time-line-links.ts';

type Lines = InvoiceRecord['line_items'];

/**
 * Returns what a change of its lines by hand makes of the links of a draft. Changed texts and units are kept with the links. After any other
 * change the lines no longer follow from the work.
 */
export function relinked(invoice: InvoiceRecord, line_items: Lines): Partial<InvoiceRecord> {
  const { time, expenses, recurring } = invoice;
  if (isTextAlone(invoice.line_items, line_items)) {
    return time && !time.is_edited
      ? { time: { ...time, texts: changedTexts(time, invoice.line_items, line_items) } }
      : {};
  }
  return {
    ...(time ? { time: { ...time, is_edited: true } } : {}),
    // Such lines do not tell how many of the included hours are left.
    ...(time && recurring ? { recurring: omit(recurring, ['included_hours']) } : {}),
    ...(expenses ? { expenses: { ...expenses, is_edited: true } } : {}),
  };
}

/** Returns lines that were made anew with the texts that the caller gave them, and forgets those of lines that are gone. */
export function withGivenTexts({ line_items, time }: Pick<InvoiceRecord, 'line_items' | 'time'>) {
  if (!time?.texts || time.is_edited) return { line_items, time };
  const items = [...(line_items ?? [])];
  const places = placesOf(time, items);
  const given = new Map(time.texts.map((text) => [text.key, text]));
  for (const { key, at } of places) {
    const [item, text] = [items[at], given.get(key)];
    if (item && text) items[at] = withText(item, text);
  }
  const kept = new Set([...places.map(({ key }) => key), ...time.lines.map(({ id }) => prepaidKey(id))]);
  return { line_items: line_items && items, time: { ...time, texts: time.texts.filter(({ key }) => kept.has(key)) } };
}

/** Writes a changed description of a time entry into its line on a draft, unless the caller changed the text of that line. */
export async function followDescription(unit: UnitOfWork, { invoice_id, billed_line }: TimeEntryRecord): Promise<void> {
  const { accountId, session } = unit;
  const invoice = invoice_id ? await findOwn(Invoice, accountId, invoice_id, session) : undefined;
  const line = invoice?.time?.lines.find(({ id }) => id === billed_line);
  if (!invoice?.time || !line || invoice.status !== 'Draft' || invoice.time.is_edited) return;
  const { locale } = await readAccount(accountId, session);
  const form = formOfLine(line, locale);
  const isGiven = invoice.time.texts?.some(
    ({ key, description }) => key === timeKey(line.id) && description !== undefined,
  );
  if (isGiven || !namesDescription(form)) return;
  const entries = (await timeByLine(unit, invoice._id, line.id)).get(line.id) ?? [];
  const { description } = timeLine(
    entries.map((entry) => ({ ...entry, rounding: line.rounding })),
    form,
  );
  const before = invoice.line_items ?? [];
  if (before[line.at]?.description === description) return;
  const line_items = before.map((item, at) => (at === line.at ? { ...item, description } : item));
  requirePrintableContent({ ...invoice, line_items });
  const changed = await changeOwn(Invoice, invoice, { line_items }, session);
  const embedded = await embeddedIn([changed], accountId, session);
  await unit.announce('invoice.updated', invoiceView(changed, { ...embedded(changed), status: changed.status }));
}

function isTextAlone(before: Lines, after: Lines): boolean {
  const sums = (items: Lines) => items?.map((item) => omit(item, ['description', 'unit']));
  return isEqual(sums(before), sums(after));
}

function changedTexts(time: InvoiceTime, before: Lines, after: Lines): GivenLineText[] {
  const texts = new Map(time.texts?.map((text) => [text.key, text]));
  for (const { key, at } of placesOf(time, before ?? [])) {
    const [old, item] = [before?.[at], after?.[at]];
    if (!old || !item) continue;
    const given = {
      ...(item.description === old.description ? {} : { description: item.description }),
      ...(item.unit === old.unit ? {} : { unit: item.unit ?? null }),
    };
    if (Object.keys(given).length > 0) texts.set(key, { ...texts.get(key), key, ...given });
  }
  return [...texts.values()];
}

function withText(item: LineItem, { description = item.description, unit = item.unit }: GivenLineText): LineItem {
  return { ...omit(item, ['unit']), description, ...(unit ? { unit } : {}) };
}

/** Returns the line items that are made of time, each by a key that it keeps when the lines are made anew. */
function placesOf(time: InvoiceTime, items: readonly LineItem[]): { key: string; at: number }[] {
  return [
    ...time.lines.map(({ id, at }) => ({ key: timeKey(id), at })),
    ...(time.prepaid ?? []).map(({ line, at }) => ({ key: prepaidKey(line), at })),
    ...(time.included?.at ?? []).map((at) => ({ key: includedKey(items[at]), at })),
  ];
}

function timeKey(line: number): string {
  return `time ${line}`;
}

function prepaidKey(line: number): string {
  return `prepaid ${line}`;
}

/** Returns the key of a line that takes included hours off. There is one for each rate, and one for their rounding, whose quantity is 1. */
function includedKey(item: LineItem | undefined): string {
  return Number(item?.qty) > 0 ? 'rounding' : `included ${item?.rate}`;
}
