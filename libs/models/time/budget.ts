// The budget of a project or of a task: its limits, what is used of them, and which thresholds were announced.
import Big from 'big.js';
import type { mongo } from 'mongoose';

/** In percent. */
export const BUDGET_THRESHOLDS = [80, 100] as const;

export type BudgetThreshold = (typeof BUDGET_THRESHOLDS)[number];

/** What a budget limits. */
export const BUDGET_KINDS = ['hours', 'amount'] as const;

export type BudgetKind = (typeof BUDGET_KINDS)[number];

/** The stored fields. A task has those of hours alone. */
export interface BudgetFields {
  budget_hours?: number | null;
  /** In major units of the currency of its rates. */
  budget_amount?: number | null;
  /** Of all its time. Kept in the transactions of its time entries, as the next. */
  total_seconds?: number;
  /** The sum of seconds × rate of its billable time: exact, because nothing is divided before it is read. */
  total_worth?: mongo.Decimal128;
  /** The highest threshold of the present limit that was announced; none when it is absent or 0. */
  hours_reached?: number;
  amount_reached?: number;
}

const SECONDS_PER_HOUR = 3600;
const HOURS_DECIMALS = 4;
const AMOUNT_DECIMALS = 2;
const PERCENT_DECIMALS = 2;

export function hasBudget({ budget_hours, budget_amount }: BudgetFields): boolean {
  return typeof budget_hours === 'number' || typeof budget_amount === 'number';
}

/** The highest threshold that is reached; 0 when none is, or when there is no such limit. */
export function thresholdReached(record: BudgetFields, kind: BudgetKind): BudgetThreshold | 0 {
  const limit = limitOf(record, kind);
  if (limit === undefined) return 0;
  const used = usedOf(record, kind).times(100);
  return BUDGET_THRESHOLDS.findLast((threshold) => used.gte(limit.times(threshold))) ?? 0;
}

/** What a task says about its budget. */
export function taskBudgetView(task: BudgetFields) {
  return hasBudget(task) ? hoursView(task) : null;
}

/** What a project says about its budget. */
export function projectBudgetView(project: BudgetFields) {
  if (!hasBudget(project)) return null;
  const amount = usedOf(project, 'amount').div(SECONDS_PER_HOUR).round(AMOUNT_DECIMALS, Big.roundHalfUp);
  return { ...hoursView(project), amount_used: amount.toNumber(), amount_percent: percentOf(project, 'amount') };
}

function hoursView(record: BudgetFields) {
  const hours = usedOf(record, 'hours').div(SECONDS_PER_HOUR).round(HOURS_DECIMALS, Big.roundHalfUp);
  return { hours_used: hours.toNumber(), hours_percent: percentOf(record, 'hours') };
}

/** Rounded down, so that no threshold shows before it is reached. */
function percentOf(record: BudgetFields, kind: BudgetKind): number | null {
  const limit = limitOf(record, kind);
  if (limit === undefined) return null;
  return usedOf(record, kind).times(100).div(limit).round(PERCENT_DECIMALS, Big.roundDown).toNumber();
}

/** In seconds, or in seconds × rate, as `limitOf`. */
function usedOf({ total_seconds, total_worth }: BudgetFields, kind: BudgetKind): Big {
  return kind === 'hours' ? new Big(total_seconds ?? 0) : new Big(total_worth?.toString() ?? 0);
}

function limitOf({ budget_hours, budget_amount }: BudgetFields, kind: BudgetKind): Big | undefined {
  const limit = kind === 'hours' ? budget_hours : budget_amount;
  return typeof limit === 'number' ? new Big(limit).times(SECONDS_PER_HOUR) : undefined;
}
