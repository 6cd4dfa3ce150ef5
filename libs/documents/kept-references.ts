// The references that a credit note has on its files, also where its record did not keep them.
import { Invoice } from '../models/billing/invoice.ts';
import { type InvoiceReferences, REFERENCES, referencesOf } from '../models/billing/invoice-references.ts';
import { driverOf } from '../models/records.ts';
import type { StoredId } from '../models/tenant.ts';

interface MayCredit extends InvoiceReferences {
  account_id: StoredId;
  /** The invoice that a credit note takes back. */
  invoice_id?: StoredId;
}

/**
 * Returns the record, with the references of its invoice where it has none. A credit note of an earlier release did not keep
 * them. Those of an issued invoice do not change.
 */
export async function withReferences<Stored extends MayCredit>(record: Stored): Promise<Stored> {
  const { account_id, invoice_id } = record;
  if (!invoice_id || REFERENCES.some((name) => record[name])) return record;
  const projection = Object.fromEntries(REFERENCES.map((name) => [name, 1]));
  const invoice = await driverOf(Invoice).findOne({ _id: invoice_id, account_id }, { projection });
  return { ...record, ...referencesOf((invoice ?? {}) as InvoiceReferences) };
}
