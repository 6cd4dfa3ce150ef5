// The references that a credit note has on its files, also where its record did not keep them.
import { Invoice, type InvoiceRecord } from '../models/billing/invoice.ts';
import { type InvoiceReferences, REFERENCES, referencesOf } from '../models/billing/invoice-references.ts';
import { findOwn } from '../models/records.ts';
import { type StoredId, wireId } from '../models/tenant.ts';

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
  const invoice: InvoiceRecord | null = await findOwn(Invoice, wireId(account_id), invoice_id);
  return invoice ? { ...record, ...referencesOf(invoice) } : record;
}
