// Input of batches, which print many documents.
import Joi from 'joi';
import { FORMAT_NAMES, type FormatName } from '#libs/e-invoice/formats.ts';
import { uuid } from '#libs/input/kinds.ts';
import {
  BATCH_STATUSES,
  type BatchRecord,
  type BatchStatus,
  batchListing,
  DOCUMENT_KINDS,
  DocumentBatch,
  type DocumentKind,
} from '#libs/models/documents/document-batch.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { listOf } from '../http/list.ts';
import { type BatchLooks, batchLooks } from './input.ts';

/** An agency's invoices of a month; a larger number takes several batches. */
export const BATCH_DOCUMENTS_MAX = 200;

export interface WantedDocument {
  type: DocumentKind;
  id: string;
}

export interface NewBatch extends BatchLooks {
  documents: WantedDocument[];
  format: FormatName | 'pdf';
}

const wantedDocument = Joi.object<WantedDocument, true>({
  type: Joi.string()
    .valid(...DOCUMENT_KINDS)
    .required(),
  id: uuid().required().description('Of an invoice or quote of the account'),
}).meta({ schema: 'DocumentToPrint' });

export const newBatch = Joi.object<NewBatch, true>({
  documents: Joi.array()
    .items(wantedDocument)
    .min(1)
    .max(BATCH_DOCUMENTS_MAX)
    .unique('id')
    .required()
    .messages({ 'array.unique': '{{#label}} is the same document as documents[{{#dupePos}}]' })
    .description('What is to be printed, each document once'),
  ...batchLooks,
  format: Joi.string()
    .valid('pdf', ...FORMAT_NAMES)
    .default('pdf')
    .description(
      'Their files: `pdf`, or the e-invoices of issued invoices in this format. A document that lacks something fails, and its `error` names everything that is missing',
    ),
}).example({
  documents: [
    { type: 'invoice', id: exampleId.invoices },
    { type: 'quote', id: exampleId.quotes },
  ],
  style: 'modern',
  size: 'a4',
});

export const batchList = listOf<BatchRecord>(
  DocumentBatch,
  batchListing,
  {
    status: {
      input: Joi.string()
        .valid(...BATCH_STATUSES)
        .description('Only batches in this state'),
      where: (status: BatchStatus) => ({ status }),
    },
  },
  [],
);

/** The place of a document in its batch, as it stands in the path. */
export const position = Joi.number()
  .integer()
  .min(1)
  .max(BATCH_DOCUMENTS_MAX)
  .description('Place of the document in the batch, from 1')
  .example(1);
