// Response shape of the days on which clients promised to pay.
import Joi from 'joi';
import { PROMISE_STATUSES, type promiseView } from '../models/answers/promise.ts';
import { exampleId } from './example-ids.ts';
import {
  calendarDay,
  embeddedClient,
  embeddedInvoice,
  exampleClient,
  exampleTime,
  id,
  timestamp,
} from './response-fields.ts';

export const promiseResponse = Joi.object<ReturnType<typeof promiseView>, true>({
  id: id(),
  invoice: embeddedInvoice().required(),
  client: embeddedClient(),
  promised_for: calendarDay().description('The day on which the client says that it will pay'),
  status: Joi.string()
    .valid(...PROMISE_STATUSES)
    .required()
    .description(
      '`kept`: nothing is due any more. `broken`: the day has passed, and something is due. `replaced`: the client named another day. `ended`: the invoice was cancelled',
    ),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('PaymentPromise')
  .example({
    id: '019a1f00-0000-7000-8000-000000009207',
    invoice: { id: exampleId.invoices, invoice_number: 'INV-0042' },
    client: exampleClient,
    promised_for: '2026-12-10',
    status: 'open',
    created_at: exampleTime,
    updated_at: exampleTime,
  });
