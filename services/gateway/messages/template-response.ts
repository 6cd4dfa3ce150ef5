// Response shapes of mail templates.
import Joi from 'joi';
import { PLACEHOLDERS } from '#libs/mail/placeholders.ts';
import { MAIL_LANGUAGES } from '#libs/mail/standard-texts.ts';
import { MESSAGE_KINDS } from '#libs/models/messages/message-kinds.ts';
import { words } from '#libs/responses/response-fields.ts';

export const templateResponse = Joi.object({
  kind: Joi.string()
    .valid(...MESSAGE_KINDS)
    .required()
    .description('The kind of mail'),
  placeholders: Joi.array()
    .items(Joi.string().valid(...Object.keys(PLACEHOLDERS)))
    .required()
    .description('The names that may stand in braces'),
  texts: Joi.array()
    .items(
      Joi.object({
        language: Joi.string()
          .valid(...MAIL_LANGUAGES)
          .required()
          .description('The language of the text, by ISO 639-1'),
        subject: words().description('One line'),
        body: words().description('Markdown'),
        standard: Joi.boolean().required().description('It is the standard text, not your own'),
      }).meta({ schema: 'MailText' }),
    )
    .required()
    .description('One for each language'),
})
  .id('MailTemplate')
  .example({
    kind: 'invoice',
    placeholders: ['number', 'date', 'total', 'client_name', 'sender', 'amount_due', 'due_date'],
    texts: [
      {
        language: 'en',
        subject: 'Invoice {number}',
        body: 'Hello {client_name},\n\ninvoice {number} is attached.',
        standard: false,
      },
    ],
  });

export const previewResponse = Joi.object({
  subject: words().description('The subject with its values'),
  text: words().description('The plain text of the mail'),
  html: words().description('The page of the mail in HTML'),
})
  .id('MailPreview')
  .example({
    subject: 'Invoice INV-0042',
    text: 'Hello Ada Lovelace,\n\ninvoice INV-0042 is attached.',
    html: '<!doctype html><html lang="en" dir="ltr">…</html>',
  });
