// The fields that accounts and clients share as parties of a document, and their form in the API.
import type { PostalAddress } from '../../identifiers/postal-address.ts';
import type { PaymentOption } from '../../rules/paying/payment-options.ts';

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
  return options.map(({ type, holder, iban, bic, text, qr_iban, address, vpa, name, label, url }) => ({
    type,
    holder: holder ?? null,
    iban: iban ?? null,
    bic: bic ?? null,
    text: text ?? null,
    qr_iban: qr_iban ?? null,
    address: address ? { ...address, line1: address.line1 ?? null } : null,
    vpa: vpa ?? null,
    name: name ?? null,
    label: label ?? null,
    url: url ?? null,
  }));
}
