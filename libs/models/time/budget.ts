// The budget of a project or a task: its limits, its use, and the thresholds that were announced.
import Big from 'big.js';
import type { mongo } from 'mongoose';
import { decimalsOf } from '../../rules/money/money.ts';
import { SECONDS_PER_HOUR } from '../../rules/time/time-rounding.ts';

/** The thresholds in percent. */
export const BUDGET_THRESHOLDS = [80, 100] as const;

export type BudgetThreshold = (typeof BUDGET_THRESHOLDS)[number];

/** The quantities that a budget limits. */
export const BUDGET_KINDS = ['hours', 'amount'] as const;

export type BudgetKind = (typeof BUDGET_KINDS)[number];

/** The stored fields. A task only has those about hours. */
export interface BudgetFields {
  budget_hours?: number | null;
  /** The limit in major units of the currency of its rates. */
  budget_amount?: number | null;
  /** The currency of the rates when the budget was set. Absent on a task, and on a project of an older version. */
  budget_currency?: string | undefined;
  /** The seconds of all its time. The transactions of time entries keep this field and the next one. */
  total_seconds?: number;
  /** The sum of seconds × rate of its billable time. It is exact, because nothing is divided before it is read. */
  total_worth?: mongo.Decimal128;
  /** The highest threshold of the present limit that was announced. Absent and 0 mean none. */
  hours_reached?: number;
  amount_reached?: number;
}

const HOURS_DECIMALS = 4;
/** The decimals of an amount without a currency. */
const AMOUNT_DECIMALS = 2;
const PERCENT_DECIMALS = 2;

/** True when a budget in hours or in money is set. A budget of 0 counts as set. */
export function hasBudget({ budget_hours, budget_amount }: BudgetFields): boolean {
  return typeof budget_hours === 'number' || typeof budget_amount === 'number';
}

/** Returns the highest threshold that is reached. 0 when none is, or when there is no such limit. */
export function thresholdReached(record: BudgetFields, kind: BudgetKind): BudgetThreshold | 0 {
  const limit = limitOf(record, kind);
  if (limit === undefined) return 0;
  const used = usedOf(record, kind).times(100);
  return BUDGET_THRESHOLDS.findLast((threshold) => used.gte(limit.times(threshold))) ?? 0;
}

/** Returns the budget of a task in the form of the API. */
export function taskBudgetView(task: BudgetFields) {
  return hasBudget(task) ? hoursView(task) : null;
}

/** Returns the budget of a project in the form of the API. */
export function projectBudgetView(project: BudgetFields) {
  if (!hasBudget(project)) return null;
  const { budget_currency: currency } = project;
  const decimals = currency ? decimalsOf(currency) : AMOUNT_DECIMALS;
  const amount = usedOf(project, 'amount').div(SECONDS_PER_HOUR).round(decimals, Big.roundHalfUp);
  return {
    ...hoursView(project),
    amount_used: amount.toNumber(),
    amount_percent: percentOf(project, 'amount'),
    currency: currency ?? null,
  };
}

function hoursView(record: BudgetFields) {
  const hours = usedOf(record, 'hours').div(SECONDS_PER_HOUR).round(HOURS_DECIMALS, Big.roundHalfUp);
  return { hours_used: hours.toNumber(), hours_percent: percentOf(record, 'hours') };
}

/** Returns the used percentage, rounded down, so that no threshold shows before it is reached. */
function percentOf(record: BudgetFields, kind: BudgetKind): number | null {
  const limit = limitOf(record, kind);
  if (limit === undefined) return null;
  return usedOf(record, kind).times(100).div(limit).round(PERCENT_DECIMALS, Big.roundDown).toNumber();
}

/** Returns the use in the unit of `limitOf`: seconds, or seconds × rate. */
function usedOf({ total_seconds, total_worth }: BudgetFields, kind: BudgetKind): Big {
  return kind === 'hours' ? new Big(total_seconds ?? 0) : new Big(total_worth?.toString() ?? 0);
}

function limitOf({ budget_hours, budget_amount }: BudgetFields, kind: BudgetKind): Big | undefined {
  const limit = kind === 'hours' ? budget_hours : budget_amount;
  return typeof limit === 'number' ? new Big(limit).times(SECONDS_PER_HOUR) : undefined;
}
