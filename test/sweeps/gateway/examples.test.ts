// Every example of the OpenAPI document is sent as it stands: it succeeds, and what the document says of the operation is so.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CreditNote } from '#libs/models/billing/credit-note.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { Payment } from '#libs/models/billing/payment.ts';
import { Message } from '#libs/models/messages/message.ts';
import { driverOf } from '#libs/models/records.ts';
import { storedId } from '#libs/models/tenant.ts';
import { exampleId, exampleIdFor } from '#libs/responses/example-ids.ts';
import type { OpenApi } from '../../../services/gateway/reference/openapi.ts';
import { answerCheck } from '../../support/contract/answer-check.ts';
import { examplesOf } from '../../support/document-examples.ts';
import { makeExampleRecords } from '../../support/examples.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { create } from '../../support/records.ts';
import { routeTable } from '../../support/route-table.ts';
import { snapshotAccount } from '../../support/snapshot-account.ts';

let gateway: TestGateway;
let document: OpenApi;
let restoreExamples: () => Promise<void>;
beforeAll(async () => {
  gateway = await startGateway();
  document = (await gateway.get('/openapi.json', { key: undefined })).body;
  await makeExampleRecords(gateway);
  restoreExamples = await snapshotAccount(gateway.account.id);
});
afterAll(() => gateway.close());

/** Returns the query with the examples of the parameters that it must have. */
function queryOf({ parameters = [] }: { parameters?: unknown } = {}): string {
  const needed = (parameters as { in?: string; required?: boolean; name: string; example: string }[]).filter(
    (one) => one.in === 'query' && one.required,
  );
  return needed.length === 0 ? '' : `?${new URLSearchParams(needed.map(({ name, example }) => [name, example]))}`;
}

/**
 * These need a past delivery or a receiver, and printing needs a renderer: see test/contract and test/journeys. A write-off is taken back
 * in payments.test.ts: the example invoice is a draft again when deletions are sent.
 */
const ELSEWHERE = new Set([
  ...['getDelivery', 'replayDelivery', 'getEvent', 'replayEvent', 'replayWebhook', 'testWebhook'],
  'takeBackWriteOff',
  // These need a link of the record, see links.test.ts.
  ...['revokeInvoiceLink', 'revokeQuoteLink', 'revokeClientLink'],
  // A client accepts by a link, see client-answers.test.ts.
  'getQuoteAcceptance',
]);
const SPENT = new Set([
  'billProject',
  'anonymiseClient',
  'createInvoiceFromTime',
  'addTimeToInvoice',
  'settleTimeEntries',
  'runRecurringInvoice',
  'skipOccurrence',
  'endRecurringInvoice',
]);
/** Operations on an issued invoice or quote, and on the money of a payment. */
const LEDGER = new Set([
  ...['writeOffInvoice', 'payInvoice', 'allocatePayment'],
  ...['releasePayment', 'voidPayment', 'refundPayment'],
  ...['creditInvoice', 'allocateCreditNote', 'releaseCreditNote', 'refundCreditNote'],
  ...['createInvoiceLink', 'createQuoteLink', 'remindInvoice'],
]);
const RELEASED: Readonly<Record<string, 'payments' | 'credit-notes'>> = {
  releasePayment: 'payments',
  releaseCreditNote: 'credit-notes',
};
const printed = new Set(routeTable.filter(({ produces }) => produces).map(({ operation }) => operation));

/** Operations that need their example record in another state. */
const UNMADE = new Set(['billProject', 'cancelMessage', 'closeQuestion', 'setInvoiceAttachments']);

/** The path with the ids of the examples. */
const at = (path: string) =>
  path
    .replace('{id}', exampleIdFor(path))
    .replace('{address}', 'ada@example.com')
    .replace('{kind}', 'invoice')
    .replace('{link_id}', exampleId.links);

/** The message of the examples was sent; one that is cancelled was not. */
async function queueExampleAgain() {
  await Message.collection.updateOne(
    { _id: storedId(exampleId.messages) as never },
    { $set: { state: 'queued', 'recipients.0.state': 'queued' }, $unset: { settled_at: 1 } },
  );
}

/** Example records, in the state that the operation needs. */
async function prepare(operation: string) {
  await restoreExamples();
  if (operation === 'resumeRecurringInvoice')
    await gateway.post(`/api/v1/recurring-invoices/${exampleId['recurring-invoices']}/pause`);
  if (operation === 'cancelMessage') await queueExampleAgain();
  if (operation === 'billProject')
    await gateway.patch(`/api/v1/projects/${exampleId.projects}`, { billing: 'fixed', fixed_amount: 1_000 });
  if (!LEDGER.has(operation)) return;
  await gateway.patch(`/api/v1/invoices/${exampleId.invoices}`, { status: 'Sent' });
  if (operation === 'createQuoteLink') await gateway.patch(`/api/v1/quotes/${exampleId.quotes}`, { status: 'Sent' });
  // The invoice of the examples is not due yet.
  if (operation === 'remindInvoice')
    await driverOf(Invoice).updateOne({ _id: storedId(exampleId.invoices) }, { $set: { due_date: '2025-01-01' } });
  const kind = RELEASED[operation];
  if (!kind) return;
  await create(gateway, `/api/v1/${kind}/${exampleId[kind]}/allocations`, { invoice_id: exampleId.invoices });
}

test('when every example of the document is sent unchanged, then it succeeds and the response is as documented', async () => {
  await restoreExamples();
  const check = answerCheck(document as never);
  const failed: unknown[] = [];
  let isSpent = false;
  for (const { method, path, operation, body } of examplesOf(document)) {
    if (ELSEWHERE.has(operation) || printed.has(operation)) continue;
    const isMade = method === 'post' && (isSpent || LEDGER.has(operation));
    if (isMade || UNMADE.has(operation)) await prepare(operation);
    // An anonymised client accepts no new records, time is billed once, and an issued invoice stays issued.
    isSpent = method === 'delete' || SPENT.has(operation) || LEDGER.has(operation);
    const url = at(path) + queryOf(document.paths[path]?.[method]);
    // The example of a change accepts the quote, and only a draft is deleted.
    if (operation === 'deleteQuote') await gateway.patch(url, { status: 'Draft' });
    if (operation === 'deleteSuppression') {
      const came = { message_id: exampleId.messages, recipient: 'ada@example.com', kind: 'hard' };
      await gateway.post('/api/v1/messages/bounces', came);
    }
    // A client with payments cannot be deleted, and no operation deletes a payment.
    for (const records of operation === 'deleteClient' ? [Payment, CreditNote] : [])
      await driverOf(records).deleteMany({ account_id: storedId(gateway.account.id) });
    const reply = await gateway.call(method.toUpperCase(), url, body === undefined ? {} : { body });
    if (reply.status >= 300) failed.push([operation, reply.status, reply.body]);
    check(method.toUpperCase(), url, reply);
  }

  expect(failed).toEqual([]);
});

test('when a POST is repeated with its Idempotency-Key, then it is replayed exactly if the document offers the header', async () => {
  const posts = examplesOf(document).filter(({ method }) => method === 'post');
  const wrong: unknown[] = [];
  for (const { path, operation, body } of posts) {
    if (ELSEWHERE.has(operation) || printed.has(operation)) continue;
    await prepare(operation);
    const send = () =>
      gateway.call('POST', at(path), {
        headers: { 'Idempotency-Key': `twice-${operation}` },
        ...(body === undefined ? {} : { body }),
      });
    await send();
    const isReplayed = (await send()).headers.has('Idempotent-Replayed');
    const isOffered = JSON.stringify(document.paths[path]?.['post']).includes('parameters/IdempotencyKey');
    if (isReplayed !== isOffered) wrong.push([operation, { isReplayed, isOffered }]);
  }

  expect(wrong).toEqual([]);
});

test('when an operation is asked for a dry run, then it rejects it exactly if the document does not offer it, and has the 400', async () => {
  const wrong: unknown[] = [];
  for (const { method, path, operation, body } of examplesOf(document)) {
    if (method === 'get') continue;
    const url = `${at(path)}?dry_run=true`;
    const reply = await gateway.call(method.toUpperCase(), url, body === undefined ? {} : { body });
    const { responses = {}, parameters } = document.paths[path]?.[method as 'post'] ?? {};
    const isRejected = JSON.stringify(reply.body?.details ?? {}).includes('dry_run is not known');
    const isOffered = JSON.stringify(parameters ?? []).includes('"dry_run"');
    const has400 = Object.hasOwn(responses, 400);
    if (isRejected === isOffered || !has400) wrong.push([operation, { isRejected, isOffered, has400 }]);
  }

  expect(wrong).toEqual([]);
});

test('when If-Match names another version, then 412 exactly if the document says so', async () => {
  const changes = examplesOf(document).filter(({ method }) => method === 'patch' || method === 'delete');
  const wrong: unknown[] = [];
  await restoreExamples();
  for (const { method, path, operation, body } of changes) {
    const { status } = await gateway.call(method.toUpperCase(), at(path), {
      headers: { 'If-Match': '"another"' },
      ...(body === undefined ? {} : { body }),
    });
    const described = JSON.stringify(document.paths[path]?.[method as 'patch']);
    const says = [described.includes('parameters/IfMatch'), described.includes('responses/PreconditionFailed')];
    if (says.some((isSaid) => isSaid !== (status === 412))) wrong.push([operation, status, says]);
  }

  expect(wrong).toEqual([]);
});

/** Operations that name records in other fields; tests of their own cover them. */
const NAMES_OTHERWISE = new Set([
  'createDocuments',
  'reportBounce',
  'createTimeEntries',
  'settleTimeEntries',
  'settleExpenses',
  'diagnoseSignature',
  // These are 404 without what the account has one of.
  'testMailServer',
]);

test('when a body names an unknown record, then the response is the example of the 404, and only such operations have one', async () => {
  const unknown = '01890000-0000-7000-8000-000000000000';
  for (const { method, path, operation, body } of examplesOf(document)) {
    const described = document.paths[path]?.[method]?.responses as Record<string, { content?: object }>;
    if (method !== 'post' || path.includes('{') || ELSEWHERE.has(operation)) continue;
    const names = Object.keys((body ?? {}) as object).filter((name) => /^(client|project)_id$/.test(name));
    if (names.length === 0 && !NAMES_OTHERWISE.has(operation))
      expect([operation, described['404']]).toEqual([operation, undefined]);
    if (names.length === 0) continue;
    const changed = { ...(body as object), ...Object.fromEntries(names.map((name) => [name, unknown])) };
    const reply = await gateway.call('POST', path, { body: changed });
    expect([operation, reply.status]).toEqual([operation, 404]);
    expect(JSON.stringify(described['404'])).toContain(JSON.stringify(reply.body.error));
  }
});
