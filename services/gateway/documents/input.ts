// How a caller may want a stored document to look.
import Joi from 'joi';
import { type DocumentLooks, type InvoiceLooks, type QuoteLooks, STANDARD_LOOKS } from '#libs/documents/looks.ts';
import { PAGE_SIZES } from '#libs/jobs/printable-document.ts';
import { LOCALE_LONGEST, languageTag } from '#libs/profile-forms.ts';
import { refuse } from '../http/joi-problems.ts';

const looks = {
  size: Joi.string()
    .valid(...PAGE_SIZES)
    .description('Paper; by default what is usual where the locale is'),
  style: Joi.string()
    .valid('elegant', 'modern', 'classic')
    .default(STANDARD_LOOKS.style)
    .description('Fonts and drawing'),
  layout: Joi.string()
    .valid('standard', 'overlay')
    .default(STANDARD_LOOKS.layout)
    .description('Heading below or on the banner'),
  banner: Joi.boolean().default(STANDARD_LOOKS.banner).description('The field of colour at the top'),
  accessible: Joi.boolean()
    .default(STANDARD_LOOKS.accessible)
    .description('With structure for screen readers; the file is larger'),
  locale: Joi.string()
    .max(LOCALE_LONGEST)
    .custom(localeInput)
    .description("BCP 47; language and number format instead of the account's"),
};

const copy = Joi.string()
  .valid('issued', 'current')
  .meta({ isLater: true })
  .description(
    'Of a document that was issued: `issued` is its original, as are the standard values of the other parameters; `current` is printed anew with its status and what is paid by now',
  );

/** The copy of an issued document that is wanted. */
export interface CopyQuery {
  copy?: 'issued' | 'current';
}

export const documentQuery = Joi.object<DocumentLooks & CopyQuery, true>({ ...looks, copy });

const time = Joi.boolean()
  .default(STANDARD_LOOKS.time)
  .description('Invoices: with the hours behind each line on pages after it. The key also needs `time-entries:read`');
const signature = Joi.boolean()
  .default(STANDARD_LOOKS.signature)
  .description('Quotes: with a block for the signature of the client');

export const invoiceDocumentQuery = Joi.object<InvoiceLooks & CopyQuery, true>({ ...looks, time, copy });

export const quoteDocumentQuery = Joi.object<QuoteLooks & CopyQuery, true>({ ...looks, signature, copy });

export type BatchLooks = InvoiceLooks & QuoteLooks;

/** Parameters of the documents of a batch. */
export const batchLooks = { ...looks, signature, time };

function localeInput(locale: string, helpers: Joi.CustomHelpers) {
  return languageTag(locale) ?? refuse(helpers, 'invalid_locale', '{{#label}} must be a language tag such as en-US');
}
