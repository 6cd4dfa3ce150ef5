// Records for the benchmarks of the API: accounts of several sizes on one database.
import { randomBytes } from 'node:crypto';
import { MongoClient, UUID } from 'mongodb';
import { findIssuedDocument } from '#libs/documents/find-document.ts';
import { Account } from '#libs/models/accounts/account.ts';
import { issueApiKey } from '#libs/models/accounts/api-key.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import { keepOriginal } from '#libs/models/documents/original.ts';
import { recount } from '#libs/models/recount.ts';
import { newId } from '#libs/models/tenant.ts';

export interface BenchAccount {
  id: string;
  key: string;
  clientIds: string[];
  invoiceIds: string[];
}

const CHUNK = 5_000;
const CLIENTS = 20;
const SHOWN_IDS = 50;

export async function seedAccount(mongodbUri: string, invoices: number): Promise<BenchAccount> {
  const id = newId();
  await Account.create({ _id: id, name: 'Bench' });
  const { key } = await issueApiKey({ accountId: id, name: 'bench', scopes: ['*'] });
  const connection = await new MongoClient(mongodbUri).connect();
  try {
    const db = connection.db();
    const account_id = new UUID(id);
    const stamp = { account_id, created_at: new Date(), updated_at: new Date() };
    const clients = Array.from({ length: CLIENTS }, (_, index) => ({
      _id: new UUID(newId()),
      ...stamp,
      name: `Client ${index}`,
      email: `client${index}@example.com`,
      company_name: 'Analytical Engines',
      status: 'invited',
    }));
    const projects = clients.map(({ _id: client_id }, index) => ({
      _id: new UUID(newId()),
      ...stamp,
      name: `Project ${index}`,
      status: 'In Progress',
      client_id,
    }));
    await db.collection('clients').insertMany(clients as never[]);
    await db.collection('projects').insertMany(projects as never[]);
    const invoiceIds: string[] = [];
    for (let from = 0; from < invoices; from += CHUNK) {
      const chunk = Array.from({ length: Math.min(CHUNK, invoices - from) }, (_, index) => {
        const number = from + index + 1;
        const client = clients[number % CLIENTS];
        const project = projects[number % CLIENTS];
        return invoice(number, stamp, client?._id as UUID, project?._id as UUID);
      });
      await db.collection('invoices').insertMany(chunk as never[], { ordered: false, writeConcern: { w: 1 } });
      invoiceIds.push(...chunk.map(({ _id }) => String(_id)).slice(0, SHOWN_IDS));
    }
    await recount(id);
    return { id, key, clientIds: clients.map(({ _id }) => String(_id)), invoiceIds: invoiceIds.slice(0, SHOWN_IDS) };
  } finally {
    await connection.close();
  }
}

/** The size of an original, that of an invoice of one page. */
export const ORIGINAL_BYTES = 40_000;

/** Issues these invoices and keeps an original of each, of bytes that hardly deflate, as those of a PDF. */
export async function seedOriginals({ id }: BenchAccount, invoiceIds: readonly string[]): Promise<void> {
  for (const invoiceId of invoiceIds) {
    await Invoice.updateOne({ account_id: id, _id: invoiceId }, { status: 'Sent' });
    const issued = await findIssuedDocument('invoice', id, invoiceId);
    if (!issued || issued === 'draft') throw new Error('the invoice is not issued');
    const bytes = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(ORIGINAL_BYTES), Buffer.from('\n%%EOF\n')]);
    await keepOriginal(id, issued, { bytes, warnings: [] }, undefined);
  }
}

function invoice(number: number, stamp: object, client_id: UUID, project_id: UUID) {
  return {
    _id: new UUID(newId()),
    ...stamp,
    number,
    client_id,
    project_id,
    status: 'Draft',
    due_date: '2099-12-31',
    currency: 'USD',
    amount: 114_000,
    tax_rate: 19,
    tax_amount: 21_660,
    amount_paid: 0,
    description: 'Drawings of the mill',
    line_items: [
      { description: 'Drawings', qty: '12', rate: '95', discount: '0' },
      { description: 'Visit', qty: '0', rate: '400', discount: '0' },
    ],
  };
}
