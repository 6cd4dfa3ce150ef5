// A customer of the account.
import { type InferSchemaType, model, Schema } from 'mongoose';
import { idField, newId, requiredIdField, tenant } from './tenant.ts';

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
    created_at: { type: Date, required: true, default: () => new Date() },
    updated_at: { type: Date, required: true, default: () => new Date() },
  },
  { versionKey: false, strict: 'throw', collection: 'clients' },
);
clientSchema.plugin(tenant);
clientSchema.index({ account_id: 1, created_at: -1, _id: -1 });

export type ClientRecord = InferSchemaType<typeof clientSchema>;

export const Client = model('Client', clientSchema);

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
    created_at: client.created_at.toISOString(),
    updated_at: client.updated_at.toISOString(),
  };
}

/** The client as it is embedded in projects, quotes and invoices. */
export function embeddedClient(client: Pick<ClientRecord, '_id' | 'name' | 'email' | 'company_name'>) {
  return {
    id: String(client._id),
    name: client.name,
    email: client.email,
    ...(client.company_name ? { company_name: client.company_name } : {}),
  };
}
