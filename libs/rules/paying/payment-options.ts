// The ways to pay that an account names, one of a kind or several.

export const PAYMENT_OPTION_TYPES = ['bank_transfer', 'swiss_qr', 'upi', 'link'] as const;

/** A structured address of a QR-bill. */
export interface SwissAddress {
  /** Street and number. */
  line1?: string | undefined;
  postal_code: string;
  city: string;
  /** ISO 3166-1, two letters. */
  country: string;
}

/** A way to pay. Which fields it has depends on its type. */
export interface PaymentOption {
  type: (typeof PAYMENT_OPTION_TYPES)[number];
  /** The holder of a bank account. */
  holder?: string;
  iban?: string;
  bic?: string;
  /** Instead of an IBAN: an account number of another form, or another instruction. */
  text?: string;
  /** The account for payments with a QR reference, instead of `iban`. */
  qr_iban?: string;
  /** The creditor's address of a QR-bill. */
  address?: SwissAddress;
  /** The virtual payment address of UPI. */
  vpa?: string;
  /** The payee of UPI. */
  name?: string;
  /** The words of a link. */
  label?: string;
  /** A template, see payment-link.ts. */
  url?: string;
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
export function ownerOf({ name, company, legal_name }: PayeeFields): string | undefined {
  return legal_name ?? company ?? name;
}

/** Returns the bank account that e-invoices name: the first one with an IBAN. Undefined when there is none. */
export function bankAccountOf(payee: PayeeFields): { iban: string; bic?: string; holder: string } | undefined {
  const { iban, bic, holder = ownerOf(payee) ?? '' } = payee.payment_options?.find((option) => option.iban) ?? {};
  return iban === undefined ? undefined : { iban, ...(bic ? { bic } : {}), holder };
}
