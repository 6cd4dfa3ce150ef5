// The bytes that one request makes the system read, make, keep and decode at once have a bound. Every operation runs over a full account.
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import mongoose from 'mongoose';
import { AppError } from '#libs/errors.ts';
import type { PrintDocument } from '#libs/printing/print-document.ts';
import { isList } from '../../../services/gateway/http/route.ts';
import { countBytes } from '../../support/counted-bytes.ts';
import { type FullAccount, fillAccount } from '../../support/full-account.ts';
import { fullAccountCases, requestOf } from '../../support/full-account-requests.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

interface Bound {
  /** Bytes that the database sends. */
  read: number;
  /** Bytes that the database gets: what is kept, and the commands. */
  sent: number;
  /** Bytes of the response, or of the document that is printed. */
  made: number;
  /** Bytes of the largest response of the database, which is decoded in one turn of the event loop. */
  turn: number;
}

const ONE: Bound = { read: MIB, sent: 2 * MIB, made: MIB, turn: 3 * MIB };
/** A page has at most 100 of the largest records; here it is a fifth of that. */
const LIST: Bound = { read: 8 * MIB, sent: 64 * KIB, made: 8 * MIB, turn: 8 * MIB };

/** Facts of events without their bodies, of which each of these has 200 KB. */
const ACTIVITY: Partial<Bound> = { read: 2 * MIB, made: MIB, turn: 2 * MIB };

/** The text of the time of one invoice, see find-billable-time.ts, or the records that one request changes, see read-within.ts. */
const TEXT = 16 * MIB;

const BOUNDS: Readonly<Record<string, Partial<Bound>>> = {
  // Lines, allocations and refunds are in each of its records.
  listCreditNotes: { read: 12 * MIB, made: 12 * MIB, turn: 12 * MIB },
  listInvoiceActivity: ACTIVITY,
  listQuoteActivity: ACTIVITY,
  listCreditNoteActivity: ACTIVITY,
  // 20,000 movements.
  getClientBalance: { read: 3 * MIB },
  // The same with their references, and 5,000 rows.
  getStatement: { read: 24 * MIB, made: 6 * MIB },
  // The same, as the renderer gets it.
  printStatement: { read: 24 * MIB, made: 3 * MIB },
  sendStatement: { read: 24 * MIB },
  // Up to 5,000 candidates of a kind, and the projects and clients of 1,000 entries.
  getFollowUps: { read: 16 * MIB },
  // The 1,000 packages that a client may have, with their names.
  getClientHours: { read: 3 * MIB, made: 3 * MIB },
  getInvoiceTime: { read: TEXT + 2 * MIB, made: TEXT + 6 * MIB },
  // An event announces each changed record.
  settleTimeEntries: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  settleExpenses: { read: 2 * MIB, sent: 4 * MIB },
  createInvoiceFromTime: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  addTimeToInvoice: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  releaseTimeFromInvoice: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  // The oldest half of it, again and again, until an invoice takes it.
  runRecurringInvoice: { read: 3 * TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  // The numbers in the lines of the credit notes of its invoice.
  creditInvoice: { read: TEXT + 2 * MIB },
  createPayment: { read: TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  // Its invoices, and the credit notes of one of them.
  releasePayment: { read: 2 * TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  voidPayment: { read: 2 * TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  releaseCreditNote: { read: TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  updateInvoice: { read: TEXT + 2 * MIB, sent: TEXT + 2 * MIB },
  // The document is read again as it is issued.
  sendInvoice: { read: 2 * MIB },
  sendQuote: { read: 2 * MIB },
  deleteInvoice: { read: TEXT + 2 * MIB, sent: TEXT + 6 * MIB },
  // All events that name the client, in batches.
  anonymiseClient: { read: 96 * MIB, sent: 96 * MIB },
  replayWebhook: { read: 2 * MIB, sent: 8 * MIB },
  deleteTask: { read: TEXT, sent: TEXT },
};

let gateway: TestGateway;
let full: FullAccount;
let printed = 0;
const bytesOfStore = countBytes(() => gateway.workspace.mongodbUri);

beforeAll(async () => {
  const print: PrintDocument = async ({ document }) => {
    printed = JSON.stringify(document).length;
    throw new AppError('document_not_printed', 'Nothing is printed here');
  };
  gateway = await startGateway({ print });
  full = await fillAccount(gateway);
});
afterAll(async () => {
  bytesOfStore.close();
  await gateway.close();
});

test.each(fullAccountCases.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
  const { row } = one;
  const { path, ...request } = await requestOf(one, gateway, full);
  const aborted = jest.spyOn(mongoose.mongo.ClientSession.prototype, 'abortTransaction');
  const before = bytesOfStore.total();
  bytesOfStore.largest();
  printed = 0;
  const response = await fetch(gateway.url + path, request);
  const bytes = Buffer.from(await response.arrayBuffer());
  const after = bytesOfStore.total();
  // On a busy machine a transaction may have to begin again; a dry run and an error always take their own back.
  const isTakenBack = response.status >= 400 || path.includes('dry_run');
  const attempts = Math.max(1, aborted.mock.calls.length + (isTakenBack ? 0 : 1));
  aborted.mockRestore();
  const used = {
    read: (after.read - before.read) / attempts,
    sent: (after.sent - before.sent) / attempts,
    made: Math.max(printed, bytes.length),
    turn: bytesOfStore.largest(),
  };
  expect([response.status, String(bytes.subarray(0, 500))]).toEqual([
    expect.any(Number),
    expect.not.stringContaining('Internal'),
  ]);
  const bound = { ...(isList(row) ? LIST : ONE), ...BOUNDS[row.operation] };
  const over = Object.entries(bound).filter(([name, most]) => used[name as keyof Bound] > most);
  expect(over.map(([name, most]) => `${name} ${used[name as keyof Bound]} of ${most}`)).toEqual([]);
});
