// Batches of stored documents: create, watch, fetch and remove.

import { agreedDate } from '#libs/clock.ts';
import { appError, fieldProblem } from '#libs/errors.ts';
import { allows } from '#libs/models/accounts/api-key.ts';
import { removeFiles, requireRoomForFiles } from '#libs/models/documents/batch-file.ts';
import {
  BATCH_DEADLINE_MS,
  BATCH_KEPT_MS,
  BATCHES_KEPT_MAX,
  BATCHES_RUNNING_MAX,
  type BatchRecord,
  batchesKeptAlready,
  DOCUMENT_KINDS,
  DocumentBatch,
  type DocumentKind,
  insertBatch,
  removeDocumentBatch,
} from '#libs/models/documents/document-batch.ts';
import { findOwn } from '#libs/models/records.ts';
import { type Id, newRecord, storedId } from '#libs/models/tenant.ts';
import { batchResponse, batchSummaryResponse, batchesPath as path } from '#libs/responses/document-batch.ts';
import type { ListQuery } from '../http/list.ts';
import { deleted, found } from '../http/response.ts';
import { type Caller, type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { sendArchive, sendFile } from './batch-files.ts';
import { BATCH_DOCUMENTS_MAX, batchList, type NewBatch, newBatch, position } from './batch-input.ts';
import { type Numbered, numbersOf } from './batch-numbers.ts';
import { batchSummary, batchView } from './batch-view.ts';
import type { BatchLooks } from './input.ts';

const missing = 'Batch of documents not found or access denied';
const scopes = 'The key also needs `invoices:read` or `quotes:read`, for what is in the batch.';
const POLL_SECONDS = 1;

export const batchRoutes: readonly Route[] = [
  route({
    method: 'post',
    path,
    operation: 'createDocuments',
    rechecksKey: true,
    scope: 'documents:write',
    alsoNeeds: { 'time-entries:read': '`time` is true' },
    body: newBatch,
    missing: 'Document not found or access denied',
    docs: {
      title: 'Print many documents',
      summary: 'Have many invoices and quotes printed',
      description:
        `Responds at once; its documents print after those with a waiting caller. Read \`Location\` for progress, or ` +
        `wait for the event \`documents.completed\`. At most ${BATCH_DOCUMENTS_MAX} documents; an account can have ` +
        `${BATCHES_RUNNING_MAX} unfinished batches (429) and ${BATCHES_KEPT_MAX} in all (409). Files are kept for ` +
        `${BATCH_KEPT_MS / 3_600_000} hours. A document shows its record at the time of printing. ${scopes}`,
      response: batchResponse,
      status: 202,
      conflict: batchesKeptAlready(),
      namesMissing: true,
    },
    handler: createBatch,
  }),
  route({
    method: 'get',
    path,
    operation: 'listDocuments',
    scope: 'documents:read',
    query: batchList.query,
    docs: {
      title: 'List batches of documents',
      summary: 'List batches of documents, newest first',
      description: 'Without the documents in them, and without batches whose documents the key must not read.',
      response: batchSummaryResponse,
    },
    handler: listBatches,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getDocuments',
    scope: 'documents:read',
    missing: 'Batch of documents not found',
    docs: {
      title: 'Get a batch of documents',
      summary: 'See how far a batch of documents is',
      description: `\`Retry-After\` says when to ask again, as long as it is not finished. ${scopes}`,
      response: batchResponse,
    },
    read: readBatch,
    handler: getBatch,
  }),
  route({
    method: 'get',
    path: `${path}/{id}/files/{position}`,
    operation: 'getDocumentFile',
    scope: 'documents:read',
    alsoNeeds: { 'time-entries:read': 'the batch was printed with `time`' },
    parameters: { position },
    missing: 'Document not found',
    produces: 'application/pdf',
    isStoredFile: true,
    docs: {
      summary: 'Get one PDF of a batch',
      description: `Available as soon as it is printed. A batch with a \`format\` has XML instead. ${scopes}`,
      conflict: appError('batch_document_queued'),
    },
    handler: async (context) => sendFile(context, await readableFiles(context)),
  }),
  route({
    method: 'get',
    path: `${path}/{id}/archive`,
    operation: 'getDocumentArchive',
    scope: 'documents:read',
    alsoNeeds: { 'time-entries:read': 'the batch was printed with `time`' },
    missing: 'Batch of documents not found',
    produces: 'application/zip',
    isStoredFile: true,
    docs: {
      title: 'Get a batch as ZIP',
      summary: 'Get all PDFs of a batch in one ZIP',
      description: `Named by their numbers. What could not be printed is not in it. ${scopes}`,
      conflict: appError('batch_running'),
    },
    handler: async (context) => sendArchive(context, await readableFiles(context)),
  }),
  route({
    method: 'delete',
    path: `${path}/{id}`,
    operation: 'deleteDocuments',
    scope: 'documents:write',
    missing,
    docs: {
      title: 'Cancel a batch of documents',
      summary: 'Cancel a batch of documents, or remove it with its files',
      description: 'No event follows. The invoices and quotes themselves stay.',
      message: 'Batch of documents deleted',
    },
    handler: deleteBatch,
  }),
];

async function createBatch(context: Context<NewBatch>) {
  const { caller, body, commit, requestId } = context;
  const { documents, format, ...looks } = body;
  const kinds = DOCUMENT_KINDS.filter((kind) => documents.some(({ type }) => type === kind));
  requireRead(caller, kinds);
  // A quote is no invoice in any format.
  if (format !== 'pdf' && kinds.includes('quote')) throw fieldProblem('format', 'not_together', { others: ['quotes'] });
  if (looks.time) context.requireScope('time-entries:read');
  const response = await commit(async ({ session, accountId }) => {
    const numbers = await numbersOf(accountId, documents, session);
    const base = newRecord(accountId);
    const now = agreedDate();
    const batch: BatchRecord = {
      ...base,
      status: 'queued',
      kinds,
      looks,
      ...(format === 'pdf' ? {} : { format }),
      documents: documents.map(({ type, id }, index) => {
        return { kind: type, document_id: storedId(id), ...(numbers[index] as Numbered), status: 'queued' };
      }),
      total: documents.length,
      done: 0,
      failed: 0,
      request_id: requestId,
      due_at: now,
      expires_at: new Date(now.getTime() + BATCH_DEADLINE_MS + BATCH_KEPT_MS),
    };
    const { files: filesMax } = context.parts.quotas ?? {};
    if (filesMax !== undefined) await requireRoomForFiles(accountId, filesMax, session);
    await insertBatch(batch, session);
    return { status: 202, body: { success: true, data: batchView(batch) } };
  });
  const { id } = (response.body as { data: { id: Id } }).data;
  // A replayed response has these headers, too.
  return {
    ...response,
    headers: { ...response.headers, Location: `${path}/${id}`, 'Retry-After': String(POLL_SECONDS) },
  };
}

async function listBatches({ caller, query }: Context<unknown, ListQuery>) {
  const hidden = DOCUMENT_KINDS.filter((kind) => !mayRead(caller, kind));
  const within = hidden.length > 0 ? { kinds: { $nin: hidden } } : {};
  return batchList.respond({ caller, query }, (records) => records.map(batchSummary), within);
}

async function readBatch({ caller, id, session }: Reading) {
  const batch = await findOwn<BatchRecord>(DocumentBatch, caller.accountId, id, session);
  return batch && batchView(batch);
}

async function getBatch(context: Context) {
  const batch = await readable(context);
  const response = found(batchView(batch));
  return batch.completed_at ? response : { ...response, headers: { 'Retry-After': String(POLL_SECONDS) } };
}

async function deleteBatch({ caller, commit, requireRecord }: Context) {
  return commit(async ({ session }) => {
    const batch = await requireRecord(DocumentBatch, session);
    requireRead(caller, batch.kinds);
    await removeDocumentBatch(batch, session);
    await removeFiles(batch, session);
    return deleted('Batch of documents deleted');
  });
}

async function readable({ caller, requireRecord }: Context): Promise<BatchRecord> {
  const batch = await requireRecord(DocumentBatch);
  requireRead(caller, batch.kinds);
  return batch;
}

/** Files that were printed with time show time entries. */
async function readableFiles(context: Context): Promise<BatchRecord> {
  const batch = await readable(context);
  if ((batch.looks as BatchLooks).time) context.requireScope('time-entries:read');
  return batch;
}

/** A key that may read a record may read it as a document, and no other key may. */
function requireRead(caller: Caller, kinds: readonly DocumentKind[]) {
  const hidden = kinds.find((kind) => !mayRead(caller, kind));
  if (hidden) throw appError('scope_missing', { scope: `${hidden}s:read` });
}

function mayRead({ scopes }: Caller, kind: DocumentKind): boolean {
  return allows(scopes, `${kind}s:read`);
}
