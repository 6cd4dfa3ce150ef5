// Response shapes of expenses.
import Joi from 'joi';
import { EXPENSE_STATES, type expenseView } from '../models/time/expense.ts';
import { exampleId } from './example-ids.ts';
import {
  calendarDay,
  currency,
  embeddedClient,
  embeddedProject,
  exampleClient,
  exampleProject,
  exampleTime,
  id,
  invoiceSummary,
  number,
  orNull,
  timestamp,
  words,
} from './response-fields.ts';

export const expenseResponse = Joi.object<ReturnType<typeof expenseView>, true>({
  id: id(),
  project: embeddedProject(),
  client: embeddedClient(),
  date: calendarDay(),
  description: words(),
  amount: number().description('What was paid, before tax'),
  currency: currency(),
  markup: number().description('Per cent'),
  billed_amount: number().description('Amount and markup: what an invoice bills'),
  tax_rate: orNull(Joi.number()).description("Null is the invoice's"),
  billable: Joi.boolean().required(),
  receipt: orNull(Joi.string()),
  billing: Joi.string()
    .valid(...EXPENSE_STATES)
    .required()
    .description('What became of it; follows from its invoice'),
  invoice: orNull(invoiceSummary()).description('The invoice it is on'),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('Expense')
  .example({
    id: exampleId.expenses,
    project: exampleProject,
    client: exampleClient,
    date: '2026-11-03',
    description: 'Train to Paris',
    amount: 120,
    currency: 'EUR',
    markup: 10,
    billed_amount: 132,
    tax_rate: null,
    billable: true,
    receipt: 'https://example.com/receipts/17.pdf',
    billing: 'unbilled',
    invoice: null,
    created_at: exampleTime,
    updated_at: exampleTime,
  });
