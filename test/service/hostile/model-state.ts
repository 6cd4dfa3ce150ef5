// What one account should hold, in memory: written from the specification, not from the product.

export type Kind = 'clients' | 'projects' | 'tasks' | 'time-entries' | 'quotes' | 'invoices';

/** A record as the service answers it, as far as the model says. */
export interface Kept {
  id: string;
  etag?: string;
  fields: Record<string, unknown>;
  /** The client's name when the document was sent: what was issued is not rewritten. */
  frozen?: string | undefined;
  /** Ids of what it hangs on. */
  refs: { client?: string; project?: string | null; task?: string | null };
}

/** One account and what was promised to it. */
export interface ModelAccount {
  name: string;
  records: Record<Kind, Kept[]>;
  /** Numbers drawn so far. */
  drawn: { invoice: number; quote: number };
  /** Types of its events, in order. */
  events: string[];
  webhooks: string[];
  /** Bodies and answers by idempotency key. */
  answers: Map<string, { body: string; data: unknown }>;
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
    answers: new Map(),
  };
}

/** The record at `index` of those that are there, if there is one. */
export function pick(records: readonly Kept[], index: number): Kept | undefined {
  return records.length === 0 ? undefined : records[index % records.length];
}

/** What refers to a client or project, in the order in which the service names it. */
export function inTheWay(account: ModelAccount, kind: 'clients' | 'projects', id: string): string | undefined {
  const { records } = account;
  const hangs = (of: Kind) => records[of].some(({ refs }) => (kind === 'clients' ? refs.client : refs.project) === id);
  if (kind === 'clients') return (['invoices', 'quotes', 'projects'] as const).find(hangs);
  return hangs('time-entries') ? 'time entries' : (['invoices', 'quotes'] as const).find(hangs);
}

/** Takes a record away and what goes with it: a task its entries, a project its tasks. */
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

/** Which state of an invoice may follow which. */
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

/** What was sent keeps the name of its client; a draft does not. */
export function freeze(account: ModelAccount, record: Kept, isIssued: boolean): void {
  const client = account.records.clients.find(({ id }) => id === record.refs.client);
  record.frozen = isIssued ? (record.frozen ?? String(client?.fields['name'])) : undefined;
}
