// Response shape of the activity of a document.
import Joi from 'joi';
import { RECIPIENT_STATES } from '#libs/models/messages/message.ts';
import { ACTIVITY_RECORDS, ACTOR_TYPES } from '#libs/models/webhooks/event-activity.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { currencyCode, exampleTime, id, orNull, timestamp, words } from '#libs/responses/response-fields.ts';
import type { activityView } from './view.ts';

const actor = Joi.object({
  type: Joi.string()
    .valid(...ACTOR_TYPES)
    .required()
    .description(
      '`client`: on its page. `schedule`: a date passed. `mail`: the outcome of a mail. `operator`: of the installation',
    ),
  id: orNull(Joi.string().guid()).description('The API key, or the link by which the client came'),
  name: orNull(Joi.string().allow('')).description(
    'The name of the API key, for a caller with `keys:read` and for the own key',
  ),
}).meta({ schema: 'ActivityActor' });

const record = Joi.object({
  type: Joi.string()
    .valid(...ACTIVITY_RECORDS)
    .required()
    .description('The kind of record. `acceptance` is the evidence of it'),
  id: id().description('UUID of the record'),
  number: orNull(Joi.string()).description('The number as it is printed; null for records without one'),
}).meta({ schema: 'ActivityRecord' });

export const activityResponse = Joi.object<ReturnType<typeof activityView>, true>({
  id: id().description('The event, at `/api/v1/events/{id}`'),
  type: words().description('The type of the event: one of `/api/v1/event-types`'),
  at: timestamp().description('When it happened'),
  by: orNull(actor).description('Who or what caused it. A mail is caused by the actor that planned it'),
  status: orNull(Joi.string()).description('The status of the document after it; null for what moves none'),
  amount_due: orNull(Joi.number()).description('What is due of the invoice after it'),
  record: orNull(record).description('The other record that it is about'),
  amount: orNull(Joi.number()).description(
    'What a payment or a credit note moves of this document, or the sum of the invoice that was made of a quote',
  ),
  currency: orNull(currencyCode()).description('Of `amount` and `amount_due`'),
  date: orNull(Joi.string()).description('The day of the movement of money, or the day that the client promised'),
  days: orNull(Joi.number().integer()).description(
    'The step of a reminder, in days from the due date; null when sent by hand',
  ),
  text: orNull(Joi.string().allow('')).description(
    'The question, the answer, the reason, or the subject of the mail. Null once the client was anonymised',
  ),
  recipients: orNull(
    Joi.array().items(
      Joi.object({
        address: words(),
        state: Joi.string()
          .valid(...RECIPIENT_STATES)
          .required()
          .description('The state of the mail to this address'),
      }).meta({ schema: 'ActivityRecipient' }),
    ),
  ).description('Of a mail, as they were then. Null once the client was anonymised'),
  missing_scope: orNull(Joi.string()).description(
    'The scope that the key lacks to read `record`. All fields from `record` to `recipients` are null then',
  ),
})
  .id('Activity')
  .example({
    id: exampleId.events,
    type: 'payment.recorded',
    at: exampleTime,
    by: { type: 'api_key', id: exampleId.keys, name: 'Website' },
    status: null,
    amount_due: null,
    record: { type: 'payment', id: exampleId.payments, number: 'PAY-0007' },
    amount: 1356.6,
    currency: 'EUR',
    date: '2026-11-20',
    days: null,
    text: null,
    recipients: null,
    missing_scope: null,
  });
