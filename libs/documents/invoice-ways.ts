// The ways to pay an invoice: those of the issuer when it was issued, with what is due now.
import type { InvoiceRecord } from '../models/billing/invoice.ts';
import { printedNumber } from '../models/billing/number-ledger.ts';
import type { Parties } from '../models/billing/parties.ts';
import { dueOf } from '../rules/money/balance.ts';
import type { SwissParty } from '../rules/paying/swiss-bill.ts';
import { type WayToPay, waysToPay } from '../rules/paying/ways-to-pay.ts';

/** Returns the ways to pay. A paid or cancelled invoice has none. A draft has accounts, but neither codes nor links. */
export function invoiceWays(invoice: InvoiceRecord, { issuer, client }: Parties): WayToPay[] {
  const { status, currency } = invoice;
  if (status === 'Paid' || status === 'Cancelled') return [];
  return waysToPay(issuer, {
    amount: dueOf(invoice),
    currency,
    number: status === 'Draft' ? undefined : printedNumber('invoice', invoice),
    debtor: debtorOf(client),
  });
}

/** Returns the debtor of a QR-bill. Its form has one line for the street, so a client with a longer address is left out. */
function debtorOf({ name, company_name, postal_address }: Parties['client']): SwissParty | undefined {
  const { line1, line2, line3, postal_code, city, country } = postal_address ?? {};
  if (!postal_code || !city || !country || line2 || line3) return undefined;
  return { name: company_name ?? name, line1, postal_code, city, country };
}
