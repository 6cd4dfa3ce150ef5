// Makes the indexes of every model; at start and by `admin migrate`, never as a side effect of a query.
import type { Model } from 'mongoose';
import { Account } from './account.ts';
import { ApiKey } from './api-key.ts';
import { AuditEntry } from './audit-entry.ts';
import { BatchFile } from './batch-file.ts';
import { BulkRun } from './bulk-run.ts';
import { Client } from './client.ts';
import { Counter } from './counter.ts';
import { Delivery } from './delivery.ts';
import { DocumentBatch } from './document-batch.ts';
import { EndpointErrand } from './endpoint-errand.ts';
import { Event } from './event.ts';
import { Idempotency } from './idempotency-record.ts';
import { Invoice } from './invoice.ts';
import { NumberLedger } from './number-ledger.ts';
import { Operator } from './operator.ts';
import { OperatorSession } from './operator-session.ts';
import { Project } from './project.ts';
import { QueueSample } from './queue-sample.ts';
import { Quote } from './quote.ts';
import { Render } from './render-record.ts';
import { Task } from './task.ts';
import { TimeEntry } from './time-entry.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

/** Every collection of the system. */
export const allModels: readonly Model<never>[] = [
  Account,
  ApiKey,
  AuditEntry,
  BatchFile,
  BulkRun,
  Client,
  Counter,
  Delivery,
  DocumentBatch,
  EndpointErrand,
  Event,
  Idempotency,
  Invoice,
  NumberLedger,
  Operator,
  OperatorSession,
  Project,
  QueueSample,
  Quote,
  Render,
  Task,
  TimeEntry,
  WebhookEndpoint,
] as never;

/** Creates collections (a transaction cannot) and missing indexes. Harmless when all are there. */
export async function ensureIndexes(): Promise<void> {
  for (const model of allModels) {
    await model.createCollection();
    const indexes = model.schema
      .indexes()
      .map(([key, options]) => ({ key: key as Record<string, 1 | -1>, ...options }));
    // All of a collection in one command: one by one, sixty indexes take seconds.
    if (indexes.length > 0) await model.collection.createIndexes(indexes as never);
  }
}
