// The fields that accounts and clients share as parties of a document, and their form in the API.
import { printedIban } from '../../identifiers/bank-account.ts';
import type { PostalAddress } from '../../identifiers/postal-address.ts';

/** A number in a register. */
export interface LegalId {
  value: string;
  /** A scheme of ISO 6523, where the register has one. */
  scheme?: string;
}

/** The electronic address to which e-invoices are sent. */
export interface ElectronicAddress {
  /** A scheme of the EAS list. `EM` is an e-mail address. */
  scheme: string;
  value: string;
}

/** A way to pay an invoice: a bank account, or a text about another way. */
export interface PaymentOption {
  type: 'bank_transfer';
  holder?: string;
  iban?: string;
  bic?: string;
  text?: string;
}

export function legalIdView(id: LegalId | null | undefined) {
  return id ? { value: id.value, scheme: id.scheme ?? null } : null;
}

export function postalAddressView(address: PostalAddress | null | undefined) {
  if (!address) return null;
  return {
    line1: address.line1 ?? null,
    line2: address.line2 ?? null,
    line3: address.line3 ?? null,
    postal_code: address.postal_code ?? null,
    city: address.city ?? null,
    region: address.region ?? null,
    country: address.country,
  };
}

export function paymentOptionsView(options: readonly PaymentOption[] | null | undefined) {
  if (!options) return null;
  return options.map(({ type, holder, iban, bic, text }) => ({
    type,
    holder: holder ?? null,
    iban: iban ?? null,
    bic: bic ?? null,
    text: text ?? null,
  }));
}

/** The fields of an account that say how to pay it. */
export interface PayeeFields {
  name?: string | undefined;
  company?: string | null | undefined;
  legal_name?: string | null | undefined;
  bank_details?: string | null | undefined;
  payment_options?: readonly PaymentOption[] | null | undefined;
}

/** Returns the holder of the bank accounts that name none. */
function ownerOf({ name, company, legal_name }: PayeeFields): string | undefined {
  return legal_name ?? company ?? name;
}

/** Returns the bank account that codes and e-invoices name: the first one with an IBAN. Undefined when there is none. */
export function bankAccountOf(payee: PayeeFields): { iban: string; bic?: string; holder: string } | undefined {
  const { iban, bic, holder = ownerOf(payee) ?? '' } = payee.payment_options?.find((option) => option.iban) ?? {};
  return iban === undefined ? undefined : { iban, ...(bic ? { bic } : {}), holder };
}

/**
 * Returns the lines that print an account's ways to pay: bank accounts and free text. A bank account without a holder
 * is the issuer's.
 */
export function printedBankDetails(payee: PayeeFields): string {
  const { bank_details, payment_options } = payee;
  const owner = ownerOf(payee);
  const options = (payment_options ?? []).map(({ holder, iban, bic, text }) =>
    [holder ?? (iban && owner), iban && `IBAN ${printedIban(iban)}`, bic && `BIC ${bic}`, text]
      .filter(Boolean)
      .join('\n'),
  );
  return [...options, bank_details].filter(Boolean).join('\n\n');
}
