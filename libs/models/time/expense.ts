// An expense of a project, which is billed to its client.
import Big from 'big.js';
import { fromMinor } from '../../rules/money/money.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { type Id, idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from './project.ts';
import { WORK_SETTLEMENTS, type WorkSettlement } from './time-entry.ts';

/** The states of an expense. They follow from the expense, its project and its invoice, and are never stored. */
export const EXPENSE_STATES = ['unbilled', 'on_draft', 'billed', ...WORK_SETTLEMENTS, 'not_billable'] as const;

export type ExpenseState = (typeof EXPENSE_STATES)[number];

export interface ExpenseRecord extends Stamped {
  project_id: StoredId;
  /** `YYYY-MM-DD`. */
  date: string;
  description: string;
  /** The amount that was paid, before tax, in the smallest unit of the currency. */
  amount: number;
  currency: string;
  /** A percentage that is added when the expense is billed. */
  markup: number;
  /** Amount and markup, rounded: the amount of its line. */
  billed_amount: number;
  /** A percentage. Null means that of the invoice. */
  tax_rate: number | null;
  billable: boolean;
  /** The place of the receipt: an address, or a reference of the account's own. */
  receipt: string | null;
  /** The invoice that bills the expense. */
  invoice_id?: StoredId | null;
  settled?: WorkSettlement | null;
}

/** The filter of expenses that may be billed: on no invoice, not settled, and billable. */
export const UNBILLED_EXPENSES = { invoice_id: null, settled: null, billable: true } as const;

/** The index that billing walks. */
export const UNBILLED_EXPENSES_INDEX = { account_id: 1, invoice_id: 1, project_id: 1, date: 1 } as const;

export const expenseListing: ListingOf<ExpenseRecord, 'date' | 'created_at' | 'updated_at'> = {
  filters: ['project_id', 'invoice_id'],
  orders: { date: 'date', created_at: '_id', updated_at: 'updated_at' },
  standard: '-date',
  ranges: ['date'],
};

const expenseSchema = recordSchema<ExpenseRecord>(
  'expenses',
  {
    project_id: requiredIdField,
    date: { type: String, required: true },
    description: { type: String, required: true },
    amount: { type: Number, required: true },
    currency: { type: String, required: true },
    markup: { type: Number, required: true },
    billed_amount: { type: Number, required: true },
    tax_rate: Number,
    billable: { type: Boolean, required: true },
    receipt: String,
    invoice_id: idField,
    settled: { type: String, enum: WORK_SETTLEMENTS },
  },
  expenseListing,
);
expenseSchema.index(UNBILLED_EXPENSES_INDEX);

export const Expense = recordsOf<ExpenseRecord>('Expense', expenseSchema);

/** Returns round(amount × (1 + markup/100)), half away from zero, in the smallest unit. @param markup a percentage. */
export function withMarkup(amount: number, markup: number): number {
  return new Big(100).plus(markup).times('0.01').times(amount).round(0, Big.roundHalfUp).toNumber();
}

/** Returns the expense in the form of the API. */
export function expenseView(
  expense: ExpenseRecord,
  {
    project,
    client,
    invoice,
    billing,
  }: {
    project: ProjectDetails | undefined;
    client: ClientDetails | undefined;
    invoice: { id: Id; invoice_number: string | null } | null;
    billing: ExpenseState;
  },
) {
  const { currency } = expense;
  return {
    id: String(expense._id),
    project: project ? embeddedProject(project) : null,
    client: client ? embeddedClient(client) : null,
    date: expense.date,
    description: expense.description,
    amount: fromMinor(expense.amount, currency),
    currency,
    markup: expense.markup,
    billed_amount: fromMinor(expense.billed_amount, currency),
    tax_rate: expense.tax_rate,
    billable: expense.billable,
    receipt: expense.receipt,
    billing,
    invoice,
    created_at: expense.created_at.toISOString(),
    updated_at: expense.updated_at.toISOString(),
  };
}
