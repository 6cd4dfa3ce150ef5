// A batch of documents as a caller sees it, over HTTP and in its event.

import Joi from 'joi';
import { printedNumber } from '#libs/models/billing/number-ledger.ts';
import {
  BATCH_STATUSES,
  BATCHED_STATUSES,
  type BatchRecord,
  DOCUMENT_KINDS,
} from '#libs/models/documents/document-batch.ts';
import { exampleId } from '../fields/example-ids.ts';
import { errorParams, exampleTime, id, orNull, timestamp, words } from '../fields/response-fields.ts';
import { batchLooks } from './input.ts';

export const batchesPath = '/api/v1/documents';

/** The batch without its documents, for lists. */
export function batchSummary(batch: BatchRecord) {
  const { _id, status, total, done, failed, looks, created_at, updated_at, completed_at, expires_at } = batch;
  return {
    id: String(_id),
    status,
    total,
    done,
    failed,
    looks,
    archive_url: completed_at && done > 0 ? `${batchesPath}/${String(_id)}/archive` : null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    completed_at: completed_at?.toISOString() ?? null,
    expires_at: completed_at ? expires_at.toISOString() : null,
  };
}

export function batchView(batch: BatchRecord) {
  const documents = batch.documents.map((document, index) => ({
    position: index + 1,
    type: document.kind,
    id: String(document.document_id),
    number: printedNumber(document.kind, document),
    status: document.status,
    error: document.error ?? null,
    size_bytes: document.size_bytes ?? null,
    warnings: document.warnings ?? [],
    url: document.status === 'done' ? `${batchesPath}/${String(batch._id)}/files/${index + 1}` : null,
    error_code: document.error_code ?? null,
    error_params: document.error_params ?? null,
  }));
  return { ...batchSummary(batch), documents };
}

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
  looks: Joi.object(batchLooks).required().description('How they are to look, as requested'),
  archive_url: orNull(Joi.string()).description('ZIP of all that was printed; null until the batch is finished'),
  created_at: timestamp(),
  updated_at: timestamp(),
  completed_at: orNull(Joi.string().isoDate()),
  expires_at: orNull(Joi.string().isoDate()).description(
    'When it is removed with its files; null until it is finished',
  ),
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
