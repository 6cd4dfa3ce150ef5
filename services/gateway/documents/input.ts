// How a caller may want a stored document to look.
import Joi from 'joi';
import { PAGE_SIZES, type PageSize } from '#libs/jobs/printable-document.ts';
import { LOCALE_LONGEST, languageTag } from '#libs/profile-forms.ts';

export interface DocumentQuery {
  size?: PageSize;
  style: 'elegant' | 'modern' | 'classic';
  layout: 'standard' | 'overlay';
  banner: boolean;
  accessible: boolean;
  locale?: string;
}

export interface InvoiceDocumentQuery extends DocumentQuery {
  time: boolean;
}

export interface QuoteDocumentQuery extends DocumentQuery {
  signature: boolean;
}

const looks = {
  size: Joi.string()
    .valid(...PAGE_SIZES)
    .description('Paper; by default what is usual where the locale is'),
  style: Joi.string().valid('elegant', 'modern', 'classic').default('elegant').description('Fonts and drawing'),
  layout: Joi.string().valid('standard', 'overlay').default('standard').description('Heading below or on the banner'),
  banner: Joi.boolean().default(true).description('The field of colour at the top'),
  accessible: Joi.boolean().default(false).description('With structure for screen readers; the file is larger'),
  locale: Joi.string()
    .max(LOCALE_LONGEST)
    .custom(localeInput)
    .description("BCP 47; language and number format instead of the account's"),
};

export const documentQuery = Joi.object<DocumentQuery, true>(looks);

const time = Joi.boolean()
  .default(false)
  .description('Invoices: with the hours behind each line on pages after it. The key also needs `time-entries:read`');
const signature = Joi.boolean().default(false).description('Quotes: with a block for the signature of the client');

export const invoiceDocumentQuery = Joi.object<InvoiceDocumentQuery, true>({ ...looks, time });

export const quoteDocumentQuery = Joi.object<QuoteDocumentQuery, true>({ ...looks, signature });

export type BatchLooks = InvoiceDocumentQuery & QuoteDocumentQuery;

/** Parameters of the documents of a batch. */
export const batchLooks = { ...looks, signature, time };

function localeInput(locale: string, { message }: Joi.CustomHelpers) {
  return languageTag(locale) ?? message({ custom: '{{#label}} must be a language tag such as en-US' });
}
