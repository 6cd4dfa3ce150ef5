// How a caller may want a stored document to look.
import Joi from 'joi';
import type { DocumentLooks, InvoiceLooks, QuoteLooks } from '#libs/documents/looks.ts';
import { looksShape, signatureShape, timeShape } from '#libs/documents/looks-shape.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { languageTag } from '#libs/profile-forms.ts';

const looks = { ...looksShape, locale: looksShape.locale.custom(localeInput) };

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

export const invoiceDocumentQuery = Joi.object<InvoiceLooks & CopyQuery, true>({ ...looks, time: timeShape, copy });

export const quoteDocumentQuery = Joi.object<QuoteLooks & CopyQuery, true>({
  ...looks,
  signature: signatureShape,
  copy,
});

export type BatchLooks = InvoiceLooks & QuoteLooks;

/** Parameters of the documents of a batch. */
export const batchLooks = { ...looks, signature: signatureShape, time: timeShape };

function localeInput(locale: string, helpers: Joi.CustomHelpers) {
  return languageTag(locale) ?? refuse(helpers, 'invalid_locale', '{{#label}} must be a language tag such as en-US');
}
