// The client's own references on an invoice, and on the credit notes that take it back.
import { pick } from 'es-toolkit/object/pick';

export interface InvoiceReferences {
  /** Absent where the reference of the client's record applies. */
  buyer_reference?: string | undefined;
  order_reference?: string | undefined;
  contract_reference?: string | undefined;
}

export const REFERENCES = ['buyer_reference', 'order_reference', 'contract_reference'] as const;

/** The fields of a schema. */
export const referenceFields = { buyer_reference: String, order_reference: String, contract_reference: String };

/** Returns the references that a record has. */
export function referencesOf(record: InvoiceReferences): InvoiceReferences {
  return pick(record, [...REFERENCES]);
}

/** Returns the references in the form of the API. */
export function referencesView({ buyer_reference, order_reference, contract_reference }: InvoiceReferences) {
  return {
    buyer_reference: buyer_reference ?? null,
    order_reference: order_reference ?? null,
    contract_reference: contract_reference ?? null,
  };
}
