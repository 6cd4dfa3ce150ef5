// Makes the indexes of every model at start and by `admin migrate`, never as a side effect of a query.
import mongoose, { type Model } from 'mongoose';
import { Account } from './accounts/account.ts';
import { ApiKey } from './accounts/api-key.ts';
import { Client } from './accounts/client.ts';
import { PaymentPromise } from './answers/promise.ts';
import { Question } from './answers/question.ts';
import { QuoteEvidence } from './answers/quote-evidence.ts';
import { CreditNote } from './billing/credit-note.ts';
import { Invoice } from './billing/invoice.ts';
import { IssuedTime } from './billing/issued-time.ts';
import { Item } from './billing/item.ts';
import { NumberLedger } from './billing/number-ledger.ts';
import { Payment } from './billing/payment.ts';
import { Quote } from './billing/quote.ts';
import { RecurringInvoice } from './billing/recurring-invoice.ts';
import { RecurringRun } from './billing/recurring-run.ts';
import { Counter } from './counter.ts';
import { Attachments } from './documents/attachments.ts';
import { BatchFile } from './documents/batch-file.ts';
import { DocumentBatch } from './documents/document-batch.ts';
import { Original } from './documents/original.ts';
import { Render } from './documents/render-record.ts';
import { Idempotency } from './idempotency-record.ts';
import { MailServer } from './messages/mail-server.ts';
import { MailService } from './messages/mail-service.ts';
import { MailSource } from './messages/mail-source.ts';
import { MailTemplate } from './messages/mail-template.ts';
import { Message } from './messages/message.ts';
import { Suppression } from './messages/suppression.ts';
import { AuditEntry } from './operations/audit-entry.ts';
import { BackupRecord } from './operations/backup-record.ts';
import { BulkRun } from './operations/bulk-run.ts';
import { Operator } from './operations/operator.ts';
import { OperatorBrowser } from './operations/operator-browser.ts';
import { OperatorSession } from './operations/operator-session.ts';
import { QueueSample } from './operations/queue-sample.ts';
import { RequestFigures } from './operations/request-figures.ts';
import { RoundTry } from './operations/round-try.ts';
import { SigningKey } from './operations/signing-key.ts';
import { DocumentLink } from './portal/document-link.ts';
import { PortalLink } from './portal/portal-link.ts';
import { PortalSession } from './portal/portal-session.ts';
import { StripeCheckout } from './stripe/checkout.ts';
import { EarlyRefund } from './stripe/early-refund.ts';
import { Expense } from './time/expense.ts';
import { HourDrawdown } from './time/hour-drawdown.ts';
import { HourPackage } from './time/hour-package.ts';
import { Project } from './time/project.ts';
import { Task } from './time/task.ts';
import { TimeEntry } from './time/time-entry.ts';
import { Timer } from './time/timer.ts';
import { Delivery } from './webhooks/delivery.ts';
import { EndpointReconcile } from './webhooks/endpoint-reconcile.ts';
import { Event } from './webhooks/event.ts';
import { WebhookEndpoint } from './webhooks/webhook-endpoint.ts';

/** Every collection of the system. */
export const allModels: readonly Model<never>[] = [
  Account,
  ApiKey,
  Attachments,
  AuditEntry,
  BackupRecord,
  BatchFile,
  BulkRun,
  Client,
  Counter,
  CreditNote,
  Delivery,
  DocumentBatch,
  DocumentLink,
  EndpointReconcile,
  Event,
  Expense,
  HourDrawdown,
  HourPackage,
  Idempotency,
  Invoice,
  IssuedTime,
  Item,
  EarlyRefund,
  MailServer,
  StripeCheckout,
  MailService,
  MailSource,
  MailTemplate,
  Message,
  NumberLedger,
  Operator,
  OperatorBrowser,
  OperatorSession,
  Original,
  Payment,
  PaymentPromise,
  PortalLink,
  PortalSession,
  Project,
  Question,
  QueueSample,
  Quote,
  QuoteEvidence,
  RecurringInvoice,
  RecurringRun,
  Render,
  RequestFigures,
  RoundTry,
  SigningKey,
  Suppression,
  Task,
  TimeEntry,
  Timer,
  WebhookEndpoint,
] as never;

/** Creates collections, which a transaction cannot, and absent indexes. It changes nothing when all are there. */
export async function ensureIndexes(): Promise<void> {
  const collections = await mongoose.connection.listCollections();
  const existing = new Set(collections.map(({ name }) => name));
  // One after the other, the round trips of all collections would take a second of every start.
  await Promise.all(allModels.map((model) => ensureIndexesOf(model, existing)));
}

async function ensureIndexesOf(model: Model<never>, existing: ReadonlySet<string>): Promise<void> {
  if (!existing.has(model.collection.collectionName)) await model.createCollection();
  const indexes = model.schema.indexes().map(([key, options]) => ({ key: key as Record<string, 1 | -1>, ...options }));
  // One command makes all indexes of a collection. One by one, sixty indexes take seconds.
  if (indexes.length > 0) await model.collection.createIndexes(indexes as never);
}
