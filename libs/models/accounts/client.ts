// A customer of the account.
import { Schema } from 'mongoose';
import type { Session } from '../../mongo/connection.ts';
import { searchText } from '../../search-text.ts';
import { addListIndexes, type Listing } from '../listing.ts';
import { findAllOwn, recordsOf, type Stamped } from '../records.ts';
import { type Id, idField, newId, requiredIdField, type StoredId, tenant } from '../tenant.ts';

export interface ClientRecord extends Stamped {
  name: string;
  email: string;
  company_name?: string | null;
  phone?: string | null;
  address?: string | null;
  tax_id?: string | null;
  status: string;
  /** Name, email and company, see searchText: what `q` looks into, and the order by name. */
  search: string;
  /** When what identifies the client was erased, see client-erasure.ts. */
  anonymised_at?: Date;
  /** See lockOwn. */
  holds?: number;
}

const clientSchema = new Schema(
  {
    _id: { ...idField, default: newId },
    account_id: requiredIdField,
    name: { type: String, required: true },
    email: { type: String, required: true },
    company_name: String,
    phone: String,
    address: String,
    tax_id: String,
    status: { type: String, required: true, default: 'invited' },
    search: { type: String, required: true },
    anonymised_at: Date,
    lock_version: Number,
    created_at: { type: Date, required: true, default: () => new Date() },
    updated_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'clients' },
);

export const clientListing: Listing = {
  filters: [],
  orders: { created_at: '_id', updated_at: 'updated_at', name: 'search' },
  standard: '-created_at',
};

clientSchema.plugin(tenant);
addListIndexes(clientSchema, clientListing);

export const Client = recordsOf<ClientRecord>('Client', clientSchema);

/** The value of `search`. */
export function searchOf({ name, email, company_name }: Pick<ClientRecord, 'name' | 'email' | 'company_name'>): string {
  return searchText([name, email, company_name ?? ''].join('\n'));
}

/** The client as the API returns it. Fields that were never given are absent. */
export function clientView(client: ClientRecord) {
  return {
    id: String(client._id),
    name: client.name,
    email: client.email,
    ...(client.company_name ? { company_name: client.company_name } : {}),
    ...(client.phone ? { phone: client.phone } : {}),
    ...(client.address ? { address: client.address } : {}),
    ...(client.tax_id ? { tax_id: client.tax_id } : {}),
    status: client.status,
    ...(client.anonymised_at ? { anonymised_at: client.anonymised_at.toISOString() } : {}),
    created_at: client.created_at.toISOString(),
    updated_at: client.updated_at.toISOString(),
  };
}

export type ClientDetails = Pick<ClientRecord, '_id' | 'name' | 'email' | 'company_name'>;

export interface EmbeddedClient {
  id: Id;
  name: string;
  email: string;
  company_name?: string;
}

/** The client as it is embedded in projects, quotes and invoices. */
export function embeddedClient(client: ClientDetails): EmbeddedClient {
  return {
    id: String(client._id),
    name: client.name,
    email: client.email,
    ...(client.company_name ? { company_name: client.company_name } : {}),
  };
}

/** The account's clients that records refer to, by id, with the fields that are embedded. */
export function clientsOf(accountId: Id, ids: readonly StoredId[], session?: Session): Promise<Map<Id, ClientRecord>> {
  return findAllOwn(Client, accountId, ids.map(String), ['name', 'email', 'company_name'], session);
}
