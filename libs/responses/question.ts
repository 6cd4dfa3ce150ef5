// Response shape of the questions that clients ask about documents.
import Joi from 'joi';
import { ASKED_ABOUT, QUESTION_STATUSES, type questionView } from '../models/answers/question.ts';
import { exampleId } from './example-ids.ts';
import { embeddedClient, exampleClient, exampleTime, id, orNull, timestamp, words } from './response-fields.ts';

export const questionResponse = Joi.object<ReturnType<typeof questionView>, true>({
  id: id(),
  document: Joi.object({
    type: Joi.string()
      .valid(...ASKED_ABOUT)
      .required()
      .description('The kind of document'),
    id: id().description('UUID of the document'),
    number: words().description('The number as it is printed'),
  })
    .required()
    .meta({ schema: 'QuestionedDocument' })
    .description('The document that it is about'),
  client: embeddedClient(),
  line: orNull(Joi.number()).description('The line of the document that it is about, from 1'),
  line_description: orNull(Joi.string().allow('')).description('The text of that line when it was asked'),
  text: words().description('The question'),
  status: Joi.string()
    .valid(...QUESTION_STATUSES)
    .required()
    .description('`closed`: ended without an answer'),
  answer: orNull(Joi.string()).description('Shown on the page of the client'),
  settled_at: orNull(Joi.string().isoDate()).description('When it was answered or closed'),
  message_id: orNull(Joi.string().guid()).description('The mail with the answer; null when none could be sent'),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('Question')
  .example({
    id: exampleId.questions,
    document: { type: 'quote', id: exampleId.quotes, number: 'QUO-0017' },
    client: exampleClient,
    line: 1,
    line_description: 'Drawings',
    text: 'Is the delivery part of the price?',
    status: 'open',
    answer: null,
    settled_at: null,
    message_id: null,
    created_at: exampleTime,
    updated_at: exampleTime,
  });
