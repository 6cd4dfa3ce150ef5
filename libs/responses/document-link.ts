// Response shape of links to documents.
import Joi from 'joi';
import { LINK_ACTS, LINK_SUBJECTS } from '../rules/documents/link-terms.ts';
import { exampleId } from './example-ids.ts';
import { exampleTime, id, number, orNull, timestamp } from './response-fields.ts';

const moment = () => orNull(Joi.string().isoDate());

export const documentLinkResponse = Joi.object({
  id: id(),
  subject: Joi.object({
    type: Joi.string()
      .valid(...LINK_SUBJECTS)
      .required()
      .description('The kind of record'),
    id: id().description('UUID of the record'),
  })
    .required()
    .meta({ schema: 'LinkSubject' })
    .description('What the page shows: the document, or all open documents of the client'),
  url: orNull(Joi.string()).description(
    'The address of the page. Null in events, where only the recipient of a mail has it, where the key lacks a scope of what its reader sees and may do, and when an Idempotency-Key replays the response',
  ),
  expires_at: moment().description(
    'Null as long as something is due or can be accepted: 13 months after that, unless chosen',
  ),
  show_time: Joi.boolean().required().description('The page shows the hours behind each line'),
  allow: Joi.array()
    .items(Joi.string().valid(...LINK_ACTS))
    .required()
    .description('What its reader may do'),
  opened_at: moment().description(
    'When a person first looked at the page. A hint, not a proof: some mail scanners run scripts',
  ),
  last_opened_at: moment().description('When a person last looked at it'),
  opens: number().description('The visits that were at least an hour apart'),
  revoked_at: moment().description('From then on the address leads nowhere'),
  message_id: orNull(Joi.string().guid()).description('The message that carries it'),
  created_at: timestamp(),
  show_statement: Joi.boolean()
    .required()
    .description("The page of a client's link also shows the statement of account; false on a link to a document"),
})
  .id('DocumentLink')
  .example({
    id: exampleId.links,
    subject: { type: 'invoice', id: exampleId.invoices },
    url: 'https://pay.example.com/p/4f0dBkz1sVJ1o8WcYQm2nXr7uTgLhEaSiPqCvRtKwZM',
    expires_at: null,
    show_time: false,
    allow: ['pay', 'promise', 'ask'],
    opened_at: null,
    last_opened_at: null,
    opens: 0,
    revoked_at: null,
    message_id: null,
    created_at: exampleTime,
    show_statement: false,
  });
