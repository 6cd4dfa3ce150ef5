// The floor of the API: node:http and the raw driver making the same queries as the gateway, and nothing else. Run as a process.
import { createHash, randomUUIDv7 } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { inflateSync } from 'node:zlib';
import { type ClientSession, type Document, MongoClient, UUID } from 'mongodb';

const client = await new MongoClient(process.env['MONGODB_URI'] ?? '', { maxPoolSize: 50 }).connect();
const db = client.db();
const collections = {
  keys: db.collection('api_keys'),
  clients: db.collection('clients'),
  projects: db.collection('projects'),
  invoices: db.collection('invoices'),
  originals: db.collection('originals'),
  links: db.collection('document_links'),
  accounts: db.collection('accounts'),
  questions: db.collection('questions'),
  numbers: db.collection('numbers'),
  events: db.collection('events'),
  counters: db.collection('counters'),
  answers: db.collection('idempotency_records'),
};
const MAJORITY = { readConcern: { level: 'majority' } } as const;
const DURABLE = { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority', journal: true } } as const;

createServer((request, response) => {
  const type = request.url?.endsWith('/pdf') ? 'application/pdf' : 'application/json';
  bodyFor(request)
    .then((body) => response.writeHead(body ? 200 : 404, { 'Content-Type': type }).end(body))
    .catch((error) => response.writeHead(500).end(String(error)));
}).listen(Number(process.env['PORT']), '127.0.0.1');

async function bodyFor(request: IncomingMessage): Promise<string | Buffer | undefined> {
  const url = request.url ?? '';
  if (url.endsWith('/pdf')) return original(request);
  if (url.startsWith('/p/')) return linked(url.slice('/p/'.length));
  return answer(request);
}

/** Returns the invoice of a link, with what its page reads besides. */
async function linked(token: string): Promise<string | undefined> {
  const hash = createHash('sha256').update(token).digest('hex');
  const link = await collections.links.findOne({ hash, revoked_at: null }, MAJORITY);
  if (!link) return undefined;
  const { account_id, subject_id, client_id } = link;
  const [account, invoiceClient, invoice] = await Promise.all([
    collections.accounts.findOne({ _id: account_id }, MAJORITY),
    collections.clients.findOne({ _id: client_id, account_id }, MAJORITY),
    collections.invoices.findOne({ _id: subject_id, account_id }, MAJORITY),
  ]);
  const questions = await collections.questions
    .find({ account_id, 'document.id': subject_id }, { sort: { _id: -1 }, limit: 20, ...MAJORITY })
    .toArray();
  return JSON.stringify({ account, client: invoiceClient, invoice, questions });
}

/** Returns the PDF as it is stored. */
async function original(request: IncomingMessage): Promise<Buffer | undefined> {
  const account_id = await accountOf(request);
  const [, , , , id = ''] = new URL(request.url ?? '/', 'http://host').pathname.split('/');
  const found = await collections.originals.findOne(
    { account_id, document_id: new UUID(id) },
    { projection: { bytes: 1 }, promoteBuffers: true, ...MAJORITY },
  );
  return found ? inflateSync(found['bytes'] as Buffer) : undefined;
}

async function accountOf(request: IncomingMessage): Promise<UUID> {
  const hash = createHash('sha256')
    .update(request.headers.authorization?.slice('Bearer '.length) ?? '')
    .digest('hex');
  const key = await collections.keys.findOne({ hash }, MAJORITY);
  return key?.['account_id'] as UUID;
}

async function answer(request: IncomingMessage): Promise<string | undefined> {
  const url = new URL(request.url ?? '/', 'http://host');
  if (url.pathname === '/ready') return '{}';
  const account_id = await accountOf(request);
  const [, , , resource, id] = url.pathname.split('/');
  if (request.method === 'POST') return createInvoice(account_id, await bodyOf(request), request);
  if (resource === 'clients' && id) {
    const found = await collections.clients.findOne({ _id: new UUID(id) as never, account_id }, MAJORITY);
    return found ? JSON.stringify({ data: plain(found) }) : undefined;
  }
  if (resource === 'invoices' && id) {
    const found = await collections.invoices.findOne({ _id: new UUID(id) as never, account_id }, MAJORITY);
    return found ? JSON.stringify({ data: (await withParties([found], account_id))[0] }) : undefined;
  }
  const limit = Number(url.searchParams.get('limit') ?? 50);
  const skip = Number(url.searchParams.get('offset') ?? 0);
  const [page, { n }] = await Promise.all([
    collections.invoices.find({ account_id }, { sort: { _id: -1 }, skip, limit, ...MAJORITY }).toArray(),
    db.command({ count: 'invoices', query: { account_id }, ...MAJORITY }),
  ]);
  return JSON.stringify({ data: await withParties(page, account_id), pagination: { total: n, limit, offset: skip } });
}

async function withParties(invoices: Document[], account_id: UUID) {
  const ids = (field: string) =>
    [...new Set(invoices.map((invoice) => String(invoice[field])))].map((id) => new UUID(id));
  const byId = async (name: 'clients' | 'projects', field: string) => {
    const wanted = { account_id, _id: { $in: ids(field) as never[] } };
    const found = await collections[name].find(wanted, { projection: { name: 1, email: 1 }, ...MAJORITY }).toArray();
    return new Map(found.map((record) => [String(record._id), plain(record)]));
  };
  const [clients, projects] = await Promise.all([byId('clients', 'client_id'), byId('projects', 'project_id')]);
  return invoices.map((invoice) => ({
    ...plain(invoice),
    client: clients.get(String(invoice['client_id'])),
    project: projects.get(String(invoice['project_id'])),
  }));
}

function plain({ _id, account_id: _account, ...rest }: Document) {
  return { id: String(_id), ...rest };
}

async function createInvoice(account_id: UUID, body: Document, request: IncomingMessage): Promise<string> {
  const answerId = createHash('sha256').update(`${account_id}\n${request.headers['idempotency-key']}`).digest('hex');
  if (await collections.answers.findOne({ _id: answerId as never }, MAJORITY)) throw new Error('seen before');
  return withConcurrencyLimit(String(account_id), () =>
    client.withSession((session) => inTransaction(session, account_id, body, answerId)),
  );
}

async function inTransaction(session: ClientSession, account_id: UUID, body: Document, answerId: string) {
  for (;;) {
    session.startTransaction(DURABLE);
    try {
      const answer = await steps(session, account_id, body, answerId);
      await session.commitTransaction();
      return answer;
    } catch (error) {
      await session.abortTransaction();
      if (!(error as { hasErrorLabel?: (label: string) => boolean }).hasErrorLabel?.('TransientTransactionError'))
        throw error;
    }
  }
}

async function steps(session: ClientSession, account_id: UUID, body: Document, answerId: string) {
  const now = new Date();
  const _id = new UUID(randomUUIDv7());
  const counter = await collections.counters.findOneAndUpdate(
    { _id: account_id as never },
    { $inc: { invoice: 1, event: 1 } },
    { session, upsert: true, returnDocument: 'after' },
  );
  const number = counter?.['invoice'] as number;
  await collections.numbers.insertOne(
    { _id: _id as never, account_id, kind: 'invoice', number, created_at: now },
    { session },
  );
  const held = await collections.clients.findOneAndUpdate(
    { _id: new UUID(body['client_id']) as never, account_id },
    { $inc: { lock_version: 1 } },
    { session, returnDocument: 'after' },
  );
  const invoice = {
    ...body,
    client_id: held?._id,
    number,
    status: 'Draft',
    currency: 'USD',
    tax_amount: 0,
    amount_paid: 0,
  };
  const stamped = { ...invoice, account_id, created_at: now, updated_at: now };
  await collections.invoices.insertOne({ _id: _id as never, ...stamped }, { session });
  const data = { id: String(_id), ...invoice, client: held && plain(held) };
  const event = { account_id, sequence: counter?.['event'], type: 'invoice.created', body: JSON.stringify({ data }) };
  const due = { created_at: now, due_at: now, enqueue_count: 0 };
  await collections.events.insertOne({ _id: new UUID(randomUUIDv7()) as never, ...event, ...due }, { session });
  const answer = JSON.stringify({ success: true, data });
  await collections.answers.insertOne(
    { _id: answerId as never, account_id, fingerprint: '', status: 201, body: answer, created_at: now },
    { session },
  );
  return answer;
}

async function bodyOf(request: IncomingMessage): Promise<Document> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Document;
}

const tails = new Map<string, Promise<unknown>>();

/** One transaction of an account at a time: by hand one would not let them conflict either. */
function withConcurrencyLimit<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
  const turn = (tails.get(name) ?? Promise.resolve()).then(task, task);
  tails.set(
    name,
    turn.catch(() => undefined),
  );
  return turn;
}
