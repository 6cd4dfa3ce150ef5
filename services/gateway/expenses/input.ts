// Input of expenses.

import Joi from 'joi';
import { BILLED_EXPENSES_MAX } from '#libs/billing/expenses/find-expenses.ts';
import { clientCurrency, day, line, paragraphs, uuid } from '#libs/input/kinds.ts';
import type { Id } from '#libs/models/tenant.ts';
import {
  EXPENSE_STATES,
  Expense,
  type ExpenseRecord,
  expenseListing,
  UNBILLED_EXPENSES,
} from '#libs/models/time/expense.ts';
import { WORK_SETTLEMENTS, type WorkSettlement } from '#libs/models/time/time-entry.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { AMOUNT_MAX } from '#libs/rules/money/money.ts';
import { percentage } from '../fields/money-input.ts';
import { number } from '../fields/number-input.ts';
import { workFilters } from '../fields/work-filters.ts';
import { listOf, oneByOne } from '../http/list.ts';

const MARKUP_MAX = 1_000;

interface Optional {
  currency?: string | null;
  markup?: number | null;
  tax_rate?: number | null;
  billable?: boolean | null;
  receipt?: string | null;
}

export interface NewExpense extends Optional {
  project_id: Id;
  date: string;
  description: string;
  amount: number;
}

export interface ExpenseChanges extends Optional {
  project_id?: Id;
  date?: string;
  description?: string;
  amount?: number;
}

export interface ExpenseBillingInput {
  expense_ids: Id[];
  status: WorkSettlement | 'unbilled';
}

const amount = () => number().greater(0).max(AMOUNT_MAX).description('What was paid, before tax');
const optional = {
  currency: clientCurrency().allow(null),
  markup: number()
    .min(0)
    .max(MARKUP_MAX)
    .allow(null)
    .description('Per cent that are added when it is billed; 0 unless given'),
  tax_rate: percentage().allow(null).description("Per cent; the invoice's unless given"),
  billable: Joi.boolean().allow(null).description('True unless given'),
  receipt: line().allow(null, '').description('Where the receipt is: an address, or a reference of your own'),
};

export const newExpense = Joi.object<NewExpense, true>({
  project_id: uuid().required(),
  date: day().required(),
  description: paragraphs().required(),
  amount: amount().required(),
  ...optional,
}).example({
  project_id: exampleId.projects,
  date: '2026-11-03',
  description: 'Train to Paris',
  amount: 120,
  currency: 'EUR',
  markup: 10,
  receipt: 'https://example.com/receipts/17.pdf',
});

export const expenseChanges = Joi.object<ExpenseChanges, true>({
  project_id: uuid().description('A project of the same client'),
  date: day(),
  description: paragraphs(),
  amount: amount(),
  ...optional,
}).example({ amount: 118.5 });

export const EXPENSE_SETTLEMENTS = [...WORK_SETTLEMENTS, 'unbilled'] as const;

export const expenseBilling = Joi.object<ExpenseBillingInput, true>({
  expense_ids: Joi.array().items(uuid()).min(1).max(BILLED_EXPENSES_MAX).required(),
  status: Joi.string()
    .valid(...EXPENSE_SETTLEMENTS)
    .required(),
}).example({ expense_ids: [exampleId.expenses], status: 'billed_elsewhere' });

const work = workFilters({ states: EXPENSE_STATES, unbilled: UNBILLED_EXPENSES, onInvoice: 'expenses', coveredBy: [] });

export const expenseList = listOf<ExpenseRecord>(
  Expense,
  expenseListing,
  {
    ...work,
    billable: {
      input: Joi.boolean().description('Only expenses that are billable, or only those that are not'),
      where: (billable: boolean) => oneByOne({ billable }),
    },
  },
  ['project_id', 'client_id', 'invoice_id', 'date_from', 'date_to', 'billing', 'billable'],
);
