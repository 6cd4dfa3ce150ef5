// Turns tracked time into the lines of an invoice, so that the printed quantity is exactly the multiplied one.

import Big from 'big.js';
import { sumBy } from 'es-toolkit/math/sumBy';
import { lineTexts } from '../documents/line-texts.ts';
import {
  filledLine,
  joinedForLine,
  namesDays,
  withDays,
  writtenDay,
  writtenDays,
  writtenHours,
} from '../documents/line-wording.ts';
import { type Line, plainDecimal } from '../money/money.ts';
import type { RateSource } from './hourly-rate.ts';
import { billedSeconds, hoursQuantity, type TimeRounding, type TrackedTime } from './time-rounding.ts';

export const TIME_GROUPS = ['entry', 'task', 'member', 'project', 'day', 'none'] as const;

export type TimeGroup = (typeof TIME_GROUPS)[number];

/** One time entry, with all fields that decide about its line. */
export interface TimeToBill extends TrackedTime {
  id: string;
  project: { id: string; name: string };
  task: { id: string; name: string } | null;
  description: string | null;
  /** The person who did the work. */
  member: string | null;
  rate: number;
  /** `none` when no rate is set. The entry is then billed at 0. */
  rateFrom: RateSource | 'none';
  rounding: TimeRounding | null;
}

export interface TimeLine extends Line {
  description: string;
  qty: string;
  rate: string;
  discount: '0';
  unit: 'hour';
  seconds: number;
  billed: number;
  rounding: TimeRounding | null;
  entries: readonly TimeToBill[];
}

export interface LineForm {
  groupBy: TimeGroup;
  /**
   * A template with `{project} {task} {member} {date} {from} {to} {description} {hours}`. Where absent, the grouping
   * decides the text.
   */
  text?: string | undefined;
  /** The locale of days and numbers, BCP 47. */
  locale: string;
  /** True where the days of the lines follow their texts, unless these name them already. */
  showsDays?: boolean | undefined;
}

/**
 * Turns entries into lines of one group, rate and rounding each: two rates are never mixed. Sorts them by project,
 * group, rate (high to low) and first day. The order of the entries does not change the result.
 */
export function timeLines(entries: readonly TimeToBill[], form: LineForm): TimeLine[] {
  const groups = groupedTime(entries, form.groupBy);
  return groups.map((group) => timeLine(group, form)).toSorted((one, other) => compare(one, other, form));
}

/** Groups the entries by the line that they belong to. */
export function groupedTime(entries: readonly TimeToBill[], groupBy: TimeGroup): TimeToBill[][] {
  return [...Map.groupBy(entries, (entry) => lineKey(entry, groupBy)).values()];
}

/** Returns the line of one group of entries. @param entries at least one. */
export function timeLine(entries: readonly TimeToBill[], form: LineForm): TimeLine {
  const sorted = entries.toSorted((one, other) => byText(one.date, other.date) || byText(one.id, other.id));
  const [first] = sorted;
  if (!first) throw new Error('a line of no time');
  const billed = billedSeconds(sorted, first.rounding);
  const qty = hoursQuantity(billed);
  return {
    description: lineText(sorted, first, qty, form),
    qty,
    rate: plainDecimal(first.rate),
    discount: '0',
    unit: 'hour',
    seconds: sumBy(sorted, ({ seconds }) => seconds),
    billed,
    rounding: first.rounding,
    entries: sorted,
  };
}

function lineKey(entry: TimeToBill, groupBy: TimeGroup): string {
  const { rate, rounding } = entry;
  return JSON.stringify([...groupOf(entry, groupBy), plainDecimal(rate), rounding && Object.values(rounding)]);
}

/** Returns the values that entries of one line share, besides rate and rounding. */
function groupOf({ id, project, task, member, date }: TimeToBill, groupBy: TimeGroup): (string | undefined)[] {
  if (groupBy === 'none') return [];
  if (groupBy === 'project') return [project.id];
  if (groupBy === 'task') return [project.id, task?.id];
  if (groupBy === 'member') return [project.id, member ?? undefined];
  return [project.id, groupBy === 'day' ? date : id];
}

function compare(one: TimeLine, other: TimeLine, { groupBy }: LineForm): number {
  const [a, b] = [one.entries[0], other.entries[0]];
  if (!a || !b) return 0;
  const byDay = byText(a.date, b.date);
  return (
    (groupBy === 'none' ? 0 : byText(a.project.name, b.project.name) || byText(a.project.id, b.project.id)) ||
    (groupBy === 'task' ? byTask(a, b) : 0) ||
    (groupBy === 'member' ? byMember(a, b) : 0) ||
    (groupBy === 'day' || groupBy === 'entry' ? byDay : 0) ||
    new Big(other.rate).cmp(one.rate) ||
    byDay ||
    byText(a.id, b.id)
  );
}

/** Compares tasks by name. Time without a task comes last. */
function byTask({ task: one }: TimeToBill, { task: other }: TimeToBill): number {
  if (!one || !other) return Number(one === null) - Number(other === null);
  return byText(one.name, other.name) || byText(one.id, other.id);
}

/** Compares members. Time without a member comes last. */
function byMember({ member: one }: TimeToBill, { member: other }: TimeToBill): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return byText(one, other);
}

function byText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function lineText(sorted: readonly TimeToBill[], first: TimeToBill, qty: string, form: LineForm): string {
  const { locale } = form;
  const last = sorted.at(-1) ?? first;
  const joined = (textOf: (entry: TimeToBill) => string, separator: string) =>
    joinedForLine(sorted.map(textOf), separator);
  const values = {
    project: joined(({ project }) => project.name, ', '),
    task: joined(({ task }) => task?.name ?? '', ', '),
    member: joined(({ member }) => member ?? '', ', '),
    from: writtenDay(first.date, locale),
    to: writtenDay(last.date, locale),
    date: writtenDays({ from: first.date, to: last.date }, locale),
    description: joined(({ description }) => description ?? '', '\n'),
    hours: writtenHours(qty, locale),
  };
  const template = form.text ?? standardText(form, values);
  const text = filledLine(template, values) || filledLine('{project}', values);
  return form.showsDays && !namesDays(template) ? withDays(text, values.date) : text;
}

/** True for a form whose lines show the descriptions of their entries. */
export function namesDescription({ groupBy, text }: Pick<LineForm, 'groupBy' | 'text'>): boolean {
  return text === undefined ? groupBy === 'entry' : text.includes('{description}');
}

type Values = Record<'project' | 'task' | 'member' | 'description', string>;

function standardText({ groupBy, locale }: LineForm, { task, member, description }: Values): string {
  if (groupBy === 'none') return lineTexts(locale).time;
  if (groupBy === 'project') return '{project}';
  if (groupBy === 'task') return task ? '{project}: {task}' : '{project}';
  if (groupBy === 'member') return member ? '{project}: {member}' : '{project}';
  if (groupBy === 'day') return '{project}, {date}';
  if (description) return '{date}: {description}';
  return task ? '{date}: {project}, {task}' : '{date}: {project}';
}
