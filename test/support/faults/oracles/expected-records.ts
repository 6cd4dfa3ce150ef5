// Records that must be stored, by the responses to the calls. The database is compared with them.
import type { MarkedAccount } from '../load/accounts.ts';

export type Collection = 'clients' | 'projects' | 'tasks' | 'time_entries' | 'quotes' | 'invoices';

export interface ExpectedRecord {
  account: MarkedAccount;
  collection: Collection;
  /** Begins the record's text and is in no other record's. */
  token: string;
  /** The Idempotency-Key of the request that made it. */
  key: string;
  body: object;
  /** Known once it was acknowledged. */
  id?: string;
  /** The number of a quote or an invoice, once it was acknowledged. */
  number?: string;
  /** `unknown`: there was no answer. `refused`: the answer said that nothing was stored. */
  presence: 'stored' | 'unknown' | 'refused' | 'deleted' | 'perhaps deleted';
  /** Texts that it may have: the last acknowledged one, and those sent since without an answer. */
  texts: string[];
  /** The last acknowledged record. Undefined when a later change had no answer. */
  acknowledged?: Record<string, unknown> | undefined;
  /** A change of it is in flight. */
  isBusy: boolean;
}

/** The field that holds the token. */
export const TEXT_FIELD: Record<Collection, 'name' | 'description'> = {
  clients: 'name',
  projects: 'name',
  tasks: 'name',
  time_entries: 'description',
  quotes: 'description',
  invoices: 'description',
};

export const PATHS: Record<Collection, string> = {
  clients: '/api/v1/clients',
  projects: '/api/v1/projects',
  tasks: '/api/v1/tasks',
  time_entries: '/api/v1/time-entries',
  quotes: '/api/v1/quotes',
  invoices: '/api/v1/invoices',
};

export const COLLECTIONS = Object.keys(PATHS) as Collection[];
