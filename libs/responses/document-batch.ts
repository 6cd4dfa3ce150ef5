// Response shapes of a batch of documents, over HTTP and in its event.
import Joi from 'joi';
import { looksShape, signatureShape, timeShape } from '../documents/looks-shape.ts';
import { FORMAT_NAMES } from '../e-invoice/formats.ts';
import { BATCH_STATUSES, BATCHED_STATUSES, DOCUMENT_KINDS } from '../models/documents/document-batch.ts';
import { exampleId } from './example-ids.ts';
import { errorParams, exampleTime, id, orNull, timestamp, words } from './response-fields.ts';

export const batchesPath = '/api/v1/documents';

const count = (text: string) => Joi.number().integer().min(0).required().description(text);

const summaryFields = {
  id: id(),
  status: Joi.string()
    .valid(...BATCH_STATUSES)
    .required()
    .description('`partly_failed`: some documents are there. `failed`: none is'),
  total: count('Documents asked for'),
  done: count('Printed so far'),
  failed: count('Given up so far'),
  looks: Joi.object({ ...looksShape, signature: signatureShape, time: timeShape })
    .required()
    .description('How they are to look, as requested'),
  archive_url: orNull(Joi.string()).description('ZIP of all that was printed; null until the batch is finished'),
  created_at: timestamp(),
  updated_at: timestamp(),
  completed_at: orNull(Joi.string().isoDate()),
  expires_at: orNull(Joi.string().isoDate()).description(
    'When it is removed with its files; null until it is finished',
  ),
  format: Joi.string()
    .valid('pdf', ...FORMAT_NAMES)
    .required()
    .description('The format of its files'),
};

const batchedDocument = Joi.object({
  position: Joi.number().integer().min(1).required().description('In the order of the request'),
  type: Joi.string()
    .valid(...DOCUMENT_KINDS)
    .required(),
  id: id(),
  number: words(),
  status: Joi.string()
    .valid(...BATCHED_STATUSES)
    .required(),
  error: orNull(Joi.string()).description('Why it could not be printed'),
  size_bytes: orNull(Joi.number().integer()),
  warnings: Joi.array()
    .items(Joi.string())
    .required()
    .description('As in `X-Document-Warnings`: a logo that could not be loaded'),
  url: orNull(Joi.string()).description('Where its PDF is; null until it is printed'),
  error_code: orNull(Joi.string()).description('The code of `error`, see the guide on errors'),
  error_params: errorParams('The values in `error`'),
}).meta({ schema: 'BatchedDocument' });

const example = {
  id: exampleId.documents,
  status: 'partly_failed',
  total: 2,
  done: 1,
  failed: 1,
  looks: {
    style: 'modern',
    layout: 'standard',
    banner: true,
    accessible: false,
    signature: false,
    time: false,
    size: 'a4',
  },
  archive_url: `${batchesPath}/${exampleId.documents}/archive`,
  created_at: exampleTime,
  updated_at: '2026-11-02T09:30:01.250Z',
  completed_at: '2026-11-02T09:30:01.250Z',
  expires_at: '2026-11-03T09:30:01.250Z',
  format: 'pdf',
};

export const batchSummaryResponse = Joi.object(summaryFields).id('DocumentBatchSummary').example(example);

export const batchResponse = Joi.object({
  ...summaryFields,
  documents: Joi.array().items(batchedDocument).required(),
})
  .id('DocumentBatch')
  .example({
    ...example,
    documents: [
      {
        position: 1,
        type: 'invoice',
        id: exampleId.invoices,
        number: 'INV-0042',
        status: 'done',
        error: null,
        size_bytes: 31_204,
        warnings: [],
        url: `${batchesPath}/${exampleId.documents}/files/1`,
        error_code: null,
        error_params: null,
      },
      {
        position: 2,
        type: 'quote',
        id: exampleId.quotes,
        number: 'QUO-0017',
        status: 'failed',
        error: 'Quote not found',
        size_bytes: null,
        warnings: [],
        url: null,
        error_code: 'quote_not_found',
        error_params: null,
      },
    ],
  });
