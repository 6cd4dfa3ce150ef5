// Finds a payment that was booked before. A request with its `external_id` is a repeat when it asks for the same.
import { appError } from '../../errors.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { Payment, type PaymentRecord } from '../../models/billing/payment.ts';
import { driverOf } from '../../models/records.ts';
import { type Id, type StoredId, storedId } from '../../models/tenant.ts';
import { type Decimal, toMinor } from '../../rules/money/money.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { type NamedPart, namedInvoices, type Pays } from './payment-parts.ts';

interface Asked {
  client_id?: Id | undefined;
  amount?: Decimal | undefined;
  currency?: string | undefined;
  pays: Pays;
}

/** Returns the payment with the external id, or null. A voided one is among them. */
export async function findKnown(
  { accountId, session }: UnitOfWork,
  external_id: string,
): Promise<PaymentRecord | null> {
  const wanted = { account_id: storedId(accountId), external_id } as object;
  return (await driverOf(Payment).findOne(wanted, { session })) as PaymentRecord | null;
}

/**
 * Checks that a request asks for the known payment.
 * @throws AppError 422 when the payment is another one, 409 when it was voided, 404 for an invoice that is not the
 * account's.
 */
export async function requireSame(
  unit: UnitOfWork,
  known: PaymentRecord,
  { amount, currency, client_id, pays }: Asked,
): Promise<PaymentRecord> {
  const [invoice] = pays !== 'oldest' && 'invoice_id' in pays ? await namedInvoices(unit, pays) : [];
  const client = client_id ?? invoice?.client_id;
  const isOtherSum =
    (currency !== undefined && currency !== known.currency) ||
    (amount !== undefined && toMinor(amount, known.currency) !== known.amount);
  const isOtherClient = client !== undefined && String(client) !== String(known.client_id);
  const isOtherInvoice = invoice !== undefined && !isBookedFor(known, invoice._id);
  const isOtherwiseAllocated = Array.isArray(pays) && !isAllocatedTo(known, pays);
  if (isOtherSum || isOtherClient || isOtherInvoice || isOtherwiseAllocated) {
    throw appError('external_id_reused', { record: 'payment' });
  }
  if (known.status === 'Voided') {
    throw appError('external_id_voided', { number: printedNumber('payment', known) });
  }
  return known;
}

/** True when the payment was booked for the invoice. Credit that was put on it later does not count. */
function isBookedFor(known: PaymentRecord, invoice_id: StoredId): boolean {
  return (
    known.booked_for?.equals(invoice_id) || allocatedAtBooking(known).some((part) => part.invoice_id.equals(invoice_id))
  );
}

function allocatedAtBooking({ allocations, allocated_at_booking }: PaymentRecord) {
  return allocations.slice(0, allocated_at_booking);
}

/** True when the payment was put on exactly these invoices at its booking, whatever was released or allocated since. */
function isAllocatedTo(known: PaymentRecord, named: readonly NamedPart[]): boolean {
  const booked = allocatedAtBooking(known);
  return (
    booked.length === named.length &&
    named.every(({ invoice_id, amount }) => {
      const part = booked.find((one) => String(one.invoice_id) === invoice_id);
      return part && (amount === undefined || toMinor(amount, known.currency) === part.amount);
    })
  );
}
