// A received invoice, as it stands in its file. Nothing is computed, corrected or looked up. Decimals are texts, as they were written.

export interface ReceivedInvoice {
  /** BT-24, the specification that it claims to follow. */
  specification: string | null;
  /** BT-23 */
  process: string | null;
  /** BT-1 */
  number: string | null;
  /** BT-2, `YYYY-MM-DD` like every day here. */
  issue_date: string | null;
  /** BT-3, a code of UNTDID 1001. */
  type_code: string | null;
  /** BT-5 */
  currency_code: string | null;
  /** BT-9 */
  due_date: string | null;
  /** BT-10 */
  buyer_reference: string | null;
  /** BT-11 */
  project_reference: string | null;
  /** BT-12 */
  contract_reference: string | null;
  /** BT-13 */
  order_reference: string | null;
  /** BT-20 */
  payment_terms: string | null;
  /** BT-22 */
  notes: string[];
  /** BT-25 and BT-26 */
  preceding: { number: string | null; issue_date: string | null }[];
  seller: ReceivedParty;
  buyer: ReceivedParty;
  /** BT-72 */
  service_date: string | null;
  /** BT-80 */
  delivery_country: string | null;
  /** BT-73 and BT-74 */
  service_period: { from: string | null; to: string | null } | null;
  payments: ReceivedPayment[];
  /** BG-20 and BG-21 */
  adjustments: ReceivedAdjustment[];
  lines: ReceivedLine[];
  /** BG-23 */
  taxes: ReceivedTax[];
  totals: ReceivedTotals;
  /** BG-24 */
  attachments: ReceivedAttachment[];
}

export interface ReceivedParty {
  name: string | null;
  trading_name: string | null;
  id: string | null;
  legal_id: { value: string; scheme: string | null } | null;
  vat_id: string | null;
  tax_number: string | null;
  legal_note: string | null;
  electronic_address: { value: string; scheme: string | null } | null;
  address: {
    line1: string | null;
    line2: string | null;
    line3: string | null;
    postal_code: string | null;
    city: string | null;
    region: string | null;
    country: string | null;
  } | null;
  contact: { name: string | null; phone: string | null; email: string | null };
}

export interface ReceivedPayment {
  /** BT-81, a code of UNTDID 4461. */
  means: string | null;
  reference: string | null;
  iban: string | null;
  holder: string | null;
  bic: string | null;
}

interface Taxed {
  category: string | null;
  rate: string | null;
}

export interface ReceivedAdjustment extends Taxed {
  is_charge: boolean;
  amount: string | null;
  base: string | null;
  percent: string | null;
  reason: string | null;
  code: string | null;
}

export interface ReceivedLine extends Taxed {
  id: string | null;
  name: string | null;
  description: string | null;
  quantity: string | null;
  unit: string | null;
  /** BT-146, without tax. */
  price: string | null;
  /** BT-149, the quantity that the price is of. */
  price_quantity: string | null;
  /** BT-131 */
  net: string | null;
  adjustments: ReceivedAdjustment[];
}

export interface ReceivedTax extends Taxed {
  taxable: string | null;
  tax: string | null;
  reason: string | null;
  code: string | null;
}

export interface ReceivedTotals {
  lines: string | null;
  allowances: string | null;
  charges: string | null;
  net: string | null;
  tax: string | null;
  gross: string | null;
  paid: string | null;
  rounding: string | null;
  due: string | null;
}

export interface ReceivedAttachment {
  id: string | null;
  description: string | null;
  /** BT-125-2, as the sender named it: a name, never a path to write to. */
  file_name: string | null;
  media_type: string | null;
  size_bytes: number | null;
  /** BT-124, a place elsewhere. It is not fetched. */
  url: string | null;
}

/** A file in the PDF that the invoice was read from. */
export interface ReceivedFile {
  /** The name that the sender gave, never a path to write to. */
  file_name: string | null;
  description: string | null;
  media_type: string | null;
  /** The size that the sender says. */
  size_bytes: number | null;
  /** How it relates to the pages, such as `Alternative`. */
  relationship: string | null;
  /** True of the file whose fields were read. */
  is_invoice: boolean;
}
