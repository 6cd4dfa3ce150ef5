// An invoice in the terms of EN 16931. The numbers are its business terms; amounts, quantities and rates are decimal strings.
import type { TaxCategory } from '../rules/taxes/tax-groups.ts';

export interface EInvoice {
  /** BT-1 */
  number: string;
  /** BT-2, `YYYY-MM-DD` like every day here. */
  issuedOn: string;
  /** BT-3: an invoice, a corrected invoice, or a credit note. */
  type: '380' | '384' | '381';
  /** BT-5 */
  currency: string;
  /** BT-9 */
  dueOn?: string | undefined;
  /** BT-10 */
  buyerReference?: string | undefined;
  /** BT-11 */
  project?: string | undefined;
  /** BT-12 */
  contract?: string | undefined;
  /** BT-13 */
  order?: string | undefined;
  /** BT-22 */
  note?: string | undefined;
  /** BG-3: the invoices that it corrects, credits or completes. */
  preceding: Preceding[];
  seller: Seller;
  buyer: Party;
  /** BT-72 */
  deliveredOn?: string | undefined;
  /** BT-80 */
  deliveryCountry?: string | undefined;
  /** BT-73 and BT-74 */
  period?: Period | undefined;
  payment?: Payment | undefined;
  /** BT-20 */
  paymentTerms?: string | undefined;
  /** BG-24 */
  attachments?: EAttachment[] | undefined;
  /** BG-20 and BG-21 */
  adjustments: DocumentAdjustment[];
  lines: ELine[];
  /** BG-23 */
  taxes: ETax[];
  totals: Totals;
}

export interface Preceding {
  /** BT-25 */
  number: string;
  /** BT-26 */
  issuedOn?: string | undefined;
}

interface Totals {
  /** BT-106 */
  lines?: string | undefined;
  /** BT-107 */
  allowances?: string | undefined;
  /** BT-108 */
  charges?: string | undefined;
  /** BT-109 */
  net: string;
  /** BT-110 */
  tax: string;
  /** BT-112 */
  gross: string;
  /** BT-114 */
  rounding?: string | undefined;
  /** BT-115 */
  due: string;
}

export interface EAttachment {
  /** BT-122 */
  id: string;
  /** BT-123 */
  description: string;
  /** BT-125 */
  fileName: string;
  mediaType: string;
  bytes: Buffer;
}

export interface Period {
  from: string;
  to: string;
}

export interface Address {
  line1?: string | undefined;
  line2?: string | undefined;
  line3?: string | undefined;
  postal_code?: string | undefined;
  city?: string | undefined;
  region?: string | undefined;
  country: string;
}

export interface Party {
  /** BT-27, BT-44 */
  name: string;
  /** BT-28, BT-45 */
  tradingName?: string | undefined;
  /** BT-29 */
  id?: string | undefined;
  /** BT-30, BT-47 */
  legalId?: { value: string; scheme?: string | undefined } | undefined;
  /** BT-31, BT-48 */
  vatId?: string | undefined;
  /** BT-34, BT-49 */
  electronicAddress?: { value: string; scheme: string } | undefined;
  address?: Address | undefined;
  /** BG-6, BG-9 */
  contact: { name?: string | undefined; phone?: string | undefined; email?: string | undefined };
}

export interface Seller extends Party {
  /** BT-32 */
  taxNumber?: string | undefined;
  /** BT-33 */
  legalNote?: string | undefined;
}

export interface Payment {
  /** BT-81, a code of UNCL 4461. */
  means: string;
  /** BT-83 */
  reference: string;
  /** BT-84 */
  iban?: string | undefined;
  /** BT-85 */
  holder?: string | undefined;
  /** BT-86 */
  bic?: string | undefined;
}

/** Rate and category of a line, an adjustment or a tax. A category of null is a rate of 0 whose meaning the caller has not given. */
export interface Taxed {
  category: TaxCategory | null;
  rate: string;
}

export interface Adjustment {
  isCharge: boolean;
  amount: string;
  /** Base and percentage, only where they give the amount. */
  base?: string | undefined;
  percent?: string | undefined;
  reason: string;
  /** A code of UNCL 5189 for an allowance, of UNCL 7161 for a charge. */
  code?: string | undefined;
}

export interface DocumentAdjustment extends Adjustment, Taxed {}

export interface ELine extends Taxed {
  /** BT-126 */
  id: string;
  /** BT-129 */
  quantity: string;
  /** BT-130 */
  unit: string;
  /** BT-131 */
  net: string;
  /** BG-27 or BG-28 */
  adjustment?: Adjustment | undefined;
  /** BT-146 */
  price: string;
  /** BT-153 */
  name: string;
  /** BT-154 */
  description?: string | undefined;
}

export interface ETax extends Taxed {
  /** BT-116 */
  taxable: string;
  /** BT-117 */
  tax: string;
  /** BT-120 */
  reason?: string | undefined;
  /** BT-121 */
  code?: string | undefined;
}
