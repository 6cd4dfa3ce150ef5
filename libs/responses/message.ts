// Response shapes of messages and of suppressed addresses.
import Joi from 'joi';
import { MAILED_KINDS, MESSAGE_STATES, RECIPIENT_ROLES, RECIPIENT_STATES } from '../models/messages/message.ts';
import { MESSAGE_KINDS } from '../models/messages/message-kinds.ts';
import { SUPPRESSION_REASONS } from '../models/messages/suppression.ts';
import { exampleId } from './example-ids.ts';
import {
  calendarDay,
  currencyCode,
  embeddedClient,
  exampleClient,
  exampleTime,
  id,
  number,
  orNull,
  timestamp,
  words,
} from './response-fields.ts';

const moment = () => orNull(Joi.string().isoDate());
const reply = () => ({
  code: orNull(Joi.string()).description('The code of the reply of the mail server, such as 250 or 550 5.1.1'),
  text: orNull(Joi.string()).description('The words of the mail server'),
});

const recipient = Joi.object({
  address: words().description('In lower case'),
  role: Joi.string()
    .valid(...RECIPIENT_ROLES)
    .required()
    .description('Where the address stands in the mail'),
  state: Joi.string()
    .valid(...RECIPIENT_STATES)
    .required()
    .description('What became of the message for this recipient'),
  ...reply(),
  at: moment().description('When the state last changed'),
}).meta({ schema: 'MessageRecipient' });

export const messageResponse = Joi.object({
  id: id(),
  kind: Joi.string()
    .valid(...MESSAGE_KINDS)
    .required()
    .description('What the message is for'),
  document: Joi.object({
    type: Joi.string()
      .valid(...MAILED_KINDS)
      .required()
      .description('The kind of document'),
    id: id().description('UUID of the document; of a statement, that of its client'),
    number: words().description('The number as it is printed; of a statement, its name'),
  })
    .required()
    .meta({ schema: 'MailedDocument' })
    .description('The document that it is about'),
  client: embeddedClient(),
  subject: words().description('The subject of the mail'),
  sender: orNull(Joi.string()).description(
    "The address that it is sent from by the account's own mail server; null for the server of the installation",
  ),
  recipients: Joi.array().items(recipient).required().description('Everybody who gets it'),
  state: Joi.string()
    .valid(...MESSAGE_STATES)
    .required()
    .description('What became of the message as a whole'),
  attachments: Joi.array()
    .items(
      Joi.object({
        name: words().description('The name of the file'),
        bytes: number().description('The size of the file'),
        sha256: words().description('The SHA-256 of the file in hex'),
      }).meta({ schema: 'MailAttachment' }),
    )
    .required()
    .description('Empty until the mail is made'),
  attempts: Joi.array()
    .items(
      Joi.object({
        at: timestamp(),
        duration_ms: orNull(Joi.number()).description('How long it took'),
        ...reply(),
      }).meta({ schema: 'MailAttempt' }),
    )
    .required()
    .description('The latest 30, oldest first'),
  message_id: words().description('The header `Message-ID`, the same in every attempt'),
  resend_of: orNull(Joi.string().guid()).description('The message that it repeats'),
  send_at: moment().description('The time for which it was planned'),
  next_attempt_at: moment().description('Null when no more attempts follow'),
  accepted_at: moment().description('When the mail server took it'),
  created_at: timestamp(),
  updated_at: timestamp(),
  reminder: orNull(
    Joi.object({
      days: orNull(Joi.number()).description('The step in days from the due date; null for one that was sent by hand'),
      amount_due: number().description('What it asks for'),
      currency: currencyCode().required(),
    }).meta({ schema: 'MessageReminder' }),
  ).description('Only of a reminder'),
  period: orNull(
    Joi.object({
      from: calendarDay().description('The first day'),
      to: calendarDay().description('The last day'),
    }).meta({ schema: 'StatementPeriod' }),
  ).description('Only of a statement of account'),
})
  .id('Message')
  .example({
    id: exampleId.messages,
    kind: 'invoice',
    document: { type: 'invoice', id: exampleId.invoices, number: 'INV-0042' },
    client: exampleClient,
    subject: 'Invoice INV-0042 from Studio North',
    sender: null,
    recipients: [{ address: 'ada@example.com', role: 'to', state: 'queued', code: null, text: null, at: exampleTime }],
    state: 'queued',
    attachments: [],
    attempts: [],
    message_id: `<${exampleId.messages}@mail.example.com>`,
    resend_of: null,
    send_at: null,
    next_attempt_at: exampleTime,
    accepted_at: null,
    created_at: exampleTime,
    updated_at: exampleTime,
    reminder: null,
    period: null,
  });

export const suppressionResponse = Joi.object({
  id: id(),
  address: words().description('In lower case'),
  reason: Joi.string()
    .valid(...SUPPRESSION_REASONS)
    .required()
    .description('Why it is not mailed any more'),
  text: orNull(Joi.string()).description('The words of the receiving mail server'),
  message_id: orNull(Joi.string().guid()).description('The message that came back'),
  created_at: timestamp(),
})
  .id('Suppression')
  .example({
    id: '019a1f00-0000-7000-8000-0000000050b9',
    address: 'ada@example.com',
    reason: 'bounce',
    text: '550 5.1.1 no such user',
    message_id: exampleId.messages,
    created_at: exampleTime,
  });
