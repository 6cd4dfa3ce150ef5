// Input of mail templates: the texts of one kind of mail in each language.
import Joi from 'joi';
import { problemOf, validationFailed } from '#libs/errors.ts';
import { line, name, paragraphs } from '#libs/input/kinds.ts';
import { unknownPlaceholders } from '#libs/mail/placeholders.ts';
import { MAIL_LANGUAGES, type MailLanguage } from '#libs/mail/standard-texts.ts';
import { MESSAGE_KINDS, type MessageKind } from '#libs/models/messages/message-kinds.ts';
import { BODY_LONGEST, SUBJECT_LONGEST } from '../fields/send-input.ts';

export interface TemplateText {
  language: MailLanguage;
  subject: string;
  body: string;
}

export interface TemplateBody {
  texts: TemplateText[];
}

export interface PreviewBody {
  language?: MailLanguage | null;
  subject?: string | null;
  body?: string | null;
}

const KIND_LONGEST = 40;

/** A kind in the path. One that does not exist is a 404 of the handler. */
export const templateKind = line()
  .max(KIND_LONGEST)
  .required()
  .description(`The kind of mail: ${MESSAGE_KINDS.map((kind) => `\`${kind}\``).join(', ')}`)
  .example('invoice');

const language = () => Joi.string().valid(...MAIL_LANGUAGES);
const subject = () => name().max(SUBJECT_LONGEST);
const body = () => paragraphs().max(BODY_LONGEST);

export const templateBody = Joi.object<TemplateBody>({
  texts: Joi.array()
    .items(
      Joi.object<TemplateText>({
        language: language().required().description('The language of the text, by ISO 639-1'),
        subject: subject().required().description('One line; may hold the placeholders of the kind'),
        body: body().required().description('Markdown; may hold the placeholders of the kind'),
      }).meta({ schema: 'MailTextInput' }),
    )
    .max(MAIL_LANGUAGES.length)
    .unique('language')
    .required()
    .description('Your own texts, one for each language. Languages that are not named have the standard text'),
}).example({
  texts: [
    { language: 'en', subject: 'Invoice {number}', body: 'Hello {client_name},\n\ninvoice {number} is attached.' },
  ],
});

export const previewBody = Joi.object<PreviewBody>({
  language: language().allow(null).description("The account's language unless given"),
  subject: line().max(SUBJECT_LONGEST).allow(null, '').description('Instead of that of the template'),
  body: body().allow(null, '').description('Instead of that of the template'),
}).example({ language: 'en', body: 'Hello {client_name},\n\n**{amount_due}** is due on {due_date}.' });

/** Returns the kind that a path names, or undefined when there is none. */
export function knownKind(text: unknown): MessageKind | undefined {
  return MESSAGE_KINDS.find((kind) => kind === text);
}

/**
 * Checks the placeholders of texts: the kind is in the path, which a shape does not see.
 * @param texts by the place of each in the body. @throws AppError 400 that names every wrong one.
 */
export function requirePlaceholders(kind: MessageKind, texts: ReadonlyMap<string, string | null | undefined>): void {
  const problems = [...texts].flatMap(([field, text]) => {
    const names = unknownPlaceholders(kind, text ?? '').map((one) => `{${one}}`);
    return names.length > 0 ? [problemOf(field, 'unknown_placeholder', { names: names.join(', ') })] : [];
  });
  if (problems.length > 0) throw validationFailed(problems);
}
