// How a caller may want a stored document to look.
import Joi from 'joi';
import type { DocumentLooks, InvoiceLooks, QuoteLooks } from '#libs/documents/looks.ts';
import { signatureShape, timeShape } from '#libs/documents/looks-shape.ts';
import { looks } from '../fields/looks-input.ts';

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
