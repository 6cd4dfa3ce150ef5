// Input of an invoice's references at the client: its own reference, an order and a contract.

import { reference } from '#libs/input/kinds.ts';
import type { InvoiceReferences } from '#libs/models/billing/invoice-references.ts';

export type ReferencesInput = { [Name in keyof InvoiceReferences]?: string | null };

const removable = () => reference().allow(null, '');

export const referencesInput = {
  buyer_reference: removable().description("Printed as the client's reference; the client's own unless given"),
  order_reference: removable().description("The client's order; printed as PO number"),
  contract_reference: removable().description('Printed as contract'),
};

/** Those that a body names, as they are stored: an empty one is taken back. */
export function givenReferences(body: ReferencesInput): InvoiceReferences {
  const names = Object.keys(referencesInput) as (keyof InvoiceReferences)[];
  return Object.fromEntries(
    names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name] || undefined]])),
  );
}
