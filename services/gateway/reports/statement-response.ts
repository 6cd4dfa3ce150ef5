// Response shape of the statement of account.
import Joi from 'joi';
import { exampleId } from '#libs/responses/example-ids.ts';
import { ageing } from '#libs/responses/payment.ts';
import {
  calendarDay,
  currency,
  embeddedClient,
  exampleClient,
  id,
  number,
  orNull,
  words,
} from '#libs/responses/response-fields.ts';
import { STATEMENT_KINDS } from '#libs/rules/money/statement-kinds.ts';

const row = Joi.object({
  date: calendarDay().description("The day of the movement, on the account's calendar"),
  kind: Joi.string()
    .valid(...STATEMENT_KINDS)
    .required()
    .description(
      '`invoice`, `credit_note` and `payment` are what came; `void` takes a payment back, `cancellation` what was left of an invoice. ' +
        '`discount` is kept for early payment, and `write_off` given up; `discount_reversal` and `write_off_reversal` make it due again. ' +
        '`refund` went back to the client. `release` frees credit that was on an invoice when it was cancelled',
    ),
  document: Joi.object({
    type: Joi.string().valid('invoice', 'payment', 'credit_note').required().description('The kind of record'),
    id: id().description('UUID of the record'),
    number: words().description('The number as it is printed'),
  })
    .meta({ schema: 'StatementDocument' })
    .required()
    .description('The invoice, the payment or the credit note that moved'),
  text: orNull(Joi.string()).description(
    "The client's order number for an `invoice`, the reference of a `payment` or a `refund`, the number of the invoice that a `credit_note` corrects",
  ),
  debit: number().description('The client owes so much more; 0 for a credit'),
  credit: number().description('The client owes so much less; 0 for a debit'),
  balance: number().description('After this row; negative where the client has credit'),
}).meta({ schema: 'StatementRow' });

const currencyStatement = Joi.object({
  currency: currency(),
  opening_balance: number().description('At the beginning of `from`; negative where the client has credit'),
  debits: number().description('The sum of the rows'),
  credits: number().description('The sum of the rows'),
  closing_balance: number().description(
    'At the end of `to`: `opening_balance` + `debits` − `credits`, and `due` − `credit`',
  ),
  due: number().description('What the client owes at the end of `to`, before its credit'),
  overdue: number().description('Of `due`: what should have come by `to`'),
  ageing: ageing().description('`due` by days overdue at `to`'),
  credit: number().description('Money received or credited that is not allocated to an invoice at the end of `to`'),
  rows: Joi.array().items(row).required().description('Every movement from `from` to `to`, by day'),
}).meta({ schema: 'CurrencyStatement' });

export const statementResponse = Joi.object({
  client: embeddedClient(),
  from: calendarDay().description('The first day'),
  to: calendarDay().description('The last day'),
  statements: Joi.array()
    .items(currencyStatement)
    .required()
    .description('One for each currency; none where nothing moved and nothing is open'),
})
  .id('StatementOfAccount')
  .example({
    client: exampleClient,
    from: '2026-11-01',
    to: '2026-11-21',
    statements: [
      {
        currency: 'EUR',
        opening_balance: 335,
        debits: 1356.6,
        credits: 1400,
        closing_balance: 291.6,
        due: 335,
        overdue: 0,
        ageing: { not_due: 335, d1_30: 0, d31_60: 0, d61_90: 0, d91_plus: 0 },
        credit: 43.4,
        rows: [
          {
            date: '2026-11-02',
            kind: 'invoice',
            document: { type: 'invoice', id: exampleId.invoices, number: 'INV-0042' },
            text: 'PO-77',
            debit: 1356.6,
            credit: 0,
            balance: 1691.6,
          },
          {
            date: '2026-11-20',
            kind: 'payment',
            document: { type: 'payment', id: exampleId.payments, number: 'PAY-0007' },
            text: 'RF18 5390 0754 7034',
            debit: 0,
            credit: 1400,
            balance: 291.6,
          },
        ],
      },
    ],
  });
