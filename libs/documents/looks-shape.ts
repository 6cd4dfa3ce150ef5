// The look of a stored document as a shape: callers choose it, and a batch returns it.
import Joi from 'joi';
import { PAGE_SIZES } from '../jobs/printable-document.ts';
import { LOCALE_LONGEST } from '../profile-forms.ts';
import { STANDARD_LOOKS } from './looks.ts';

/** The parameters of every document. An input also checks the form of `locale`. */
export const looksShape = {
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
    .description('PDF/UA-1, with structure for screen readers; the file is larger'),
  locale: Joi.string().max(LOCALE_LONGEST).description("BCP 47; language and number format instead of the account's"),
};

export const timeShape = Joi.boolean()
  .default(STANDARD_LOOKS.time)
  .description('Invoices: with the hours behind each line on pages after it. The key also needs `time-entries:read`');
export const signatureShape = Joi.boolean()
  .default(STANDARD_LOOKS.signature)
  .description('Quotes: with a block for the signature of the client');
