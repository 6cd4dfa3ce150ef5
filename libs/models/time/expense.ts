// What was spent on a project and is billed to its client.
import Big from 'big.js';
import { fromMinor } from '../../rules/money/money.ts';
import { type ClientDetails, embeddedClient } from '../accounts/client.ts';
import type { ListingOf } from '../list-indexes.ts';
import { recordSchema } from '../record-schema.ts';
import { recordsOf, type Stamped } from '../records.ts';
import { type Id, idField, requiredIdField, type StoredId } from '../tenant.ts';
import { embeddedProject, type ProjectDetails } from './project.ts';
import { SETTLEMENTS, type Settlement } from './time-entry.ts';

/** What became of an expense. Derived from it, its project and its invoice, never stored. */
export const EXPENSE_STATES = ['unbilled', 'on_draft', 'billed', ...SETTLEMENTS, 'not_billable'] as const;

export type ExpenseState = (typeof EXPENSE_STATES)[number];

export interface ExpenseRecord extends Stamped {
  project_id: StoredId;
  /** `YYYY-MM-DD`. */
  date: string;
  description: string;
  /** What was paid, before tax, in the smallest unit of the currency. */
  amount: number;
  currency: string;
  /** Percentage that is added when it is billed. */
  markup: number;
  /** Amount and markup, rounded: what its line bills. */
  billed_amount: number;
  /** Percentage; null is that of the invoice. */
  tax_rate: number | null;
  billable: boolean;
  /** Where the receipt is: an address, or a reference of the account's own. */
  receipt: string | null;
  /** The invoice it was billed on. */
  invoice_id?: StoredId | null;
  settled?: Settlement | null;
}

/** What may be billed: it is on no invoice, not settled, and billable. */
export const UNBILLED_EXPENSES = { invoice_id: null, settled: null, billable: true } as const;

/** Billing walks it. */
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
    settled: { type: String, enum: SETTLEMENTS },
  },
  expenseListing,
);
expenseSchema.index(UNBILLED_EXPENSES_INDEX);

export const Expense = recordsOf<ExpenseRecord>('Expense', expenseSchema);

/** round(amount × (1 + markup/100)), half away from zero, in the smallest unit. @param markup percentage. */
export function withMarkup(amount: number, markup: number): number {
  return new Big(100).plus(markup).times('0.01').times(amount).round(0, Big.roundHalfUp).toNumber();
}

/** The expense as the API returns it. */
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
