// A model of one account's records in memory, written from the specification and not from the product.

export type Kind = 'clients' | 'projects' | 'tasks' | 'time-entries' | 'quotes' | 'invoices';

/** A record as the service returns it, with the fields that the model knows. */
export interface Kept {
  id: string;
  etag?: string;
  fields: Record<string, unknown>;
  /** The client's name when the document was sent: an issued document does not change. */
  frozen?: string | undefined;
  /** Ids of the records that it refers to. */
  refs: { client?: string; project?: string | null; task?: string | null };
}

/** One account and what the service has confirmed to it. */
export interface ModelAccount {
  name: string;
  records: Record<Kind, Kept[]>;
  /** Numbers drawn so far. */
  drawn: { invoice: number; quote: number };
  /** Types of its events, in order. */
  events: string[];
  webhooks: string[];
  /** Bodies and responses by idempotency key. */
  responses: Map<string, { body: string; data: unknown }>;
}

export interface Model {
  accounts: [ModelAccount, ModelAccount];
}

export function newModel(): Model {
  return { accounts: [newAccount('A'), newAccount('B')] };
}

function newAccount(name: string): ModelAccount {
  return {
    name,
    records: { clients: [], projects: [], tasks: [], 'time-entries': [], quotes: [], invoices: [] },
    drawn: { invoice: 0, quote: 0 },
    events: [],
    webhooks: [],
    responses: new Map(),
  };
}

/** The record at `index`, which wraps around, if there is any. */
export function pick(records: readonly Kept[], index: number): Kept | undefined {
  return records.length === 0 ? undefined : records[index % records.length];
}

/** Returns the kind of record that refers to a client or project, in the order in which the service names it. */
export function blockerOf(account: ModelAccount, kind: 'clients' | 'projects', id: string): string | undefined {
  const { records } = account;
  const refers = (of: Kind) => records[of].some(({ refs }) => (kind === 'clients' ? refs.client : refs.project) === id);
  if (kind === 'clients') return (['invoices', 'quotes', 'projects'] as const).find(refers);
  return refers('time-entries') ? 'time entries' : (['invoices', 'quotes'] as const).find(refers);
}

/** Removes a record with its dependents: the entries of a task, the tasks of a project. */
export function remove(account: ModelAccount, kind: Kind, id: string): void {
  const { records, events } = account;
  if (kind === 'projects') {
    const tasks = records.tasks.filter(({ refs }) => refs.project === id);
    records.tasks = records.tasks.filter((task) => !tasks.includes(task));
    events.push(...tasks.map(() => 'task.deleted'));
  }
  if (kind === 'tasks') records['time-entries'] = records['time-entries'].filter(({ refs }) => refs.task !== id);
  records[kind] = records[kind].filter((record) => record.id !== id);
}

/** Seconds tracked on a task. */
export function secondsOf(account: ModelAccount, taskId: string): number {
  return account.records['time-entries']
    .filter(({ refs }) => refs.task === taskId)
    .reduce((sum, { fields }) => sum + Math.round(Number(fields['hours']) * 3_600), 0);
}

/** The states that may follow each state of an invoice. */
export const MOVES: Record<string, string[]> = {
  Draft: ['Sent', 'Cancelled'],
  Sent: ['Paid', 'Overdue', 'Cancelled'],
  Overdue: ['Paid', 'Sent', 'Cancelled'],
  Paid: [],
  Cancelled: [],
};

/** Cents, in whole numbers: amounts of the model have two decimals at most. */
export function money(amount: number, taxRate: number) {
  const cents = Math.round(amount * 100);
  // Whole percentages of whole cents: half a cent goes up.
  const tax = Math.floor((cents * taxRate + 50) / 100);
  return { amount: cents / 100, tax_rate: taxRate, tax_amount: tax / 100, total: (cents + tax) / 100 };
}

/** A sent document keeps the name of its client; a draft does not. */
export function freeze(account: ModelAccount, record: Kept, isIssued: boolean): void {
  const client = account.records.clients.find(({ id }) => id === record.refs.client);
  record.frozen = isIssued ? (record.frozen ?? String(client?.fields['name'])) : undefined;
}
