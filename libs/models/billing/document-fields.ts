// The fields that invoices and quotes share.
import type { DocumentCharges } from '../../rules/documents/document-charges.ts';
import { type LineItem, lineItemField } from '../../rules/documents/line-item.ts';
import { fromMinor } from '../../rules/money/money.ts';
import type { DocumentTax } from '../../rules/taxes/document-taxes.ts';
import type { TaxCategory } from '../../rules/taxes/tax-groups.ts';
import type { Stamped } from '../records.ts';
import { idField, requiredIdField, type StoredId } from '../tenant.ts';
import { type DocumentDates, documentDateFields } from './document-dates.ts';
import { type DocumentDelivery, deliveryField } from './document-delivery.ts';
import { type Parties, partiesField } from './parties.ts';

/** Texts that are printed below the sum. Absent where there are none. */
export interface DocumentTexts {
  notes?: string | undefined;
  terms?: string | undefined;
}

/** The stored fields of an invoice or a quote. Amounts are in the currency's smallest unit. */
export interface DocumentRecord extends Stamped, DocumentDates, DocumentCharges, DocumentTexts {
  /** The number in the account's sequence. 0 in a dry run, which draws none. */
  number: number;
  /** The number as it is printed, in the format that the account had when it was drawn. */
  number_text?: string | undefined;
  /** The year of its sequence. Absent where one sequence serves all years. */
  number_period?: string | undefined;
  /** The searched text, see document-search.ts. */
  search?: string;
  client_id: StoredId;
  project_id: StoredId | null;
  currency: string;
  amount: number;
  /** The sum of the lines, see DocumentMoney. */
  subtotal?: number | undefined;
  tax_amount: number;
  /** The amount that rounds the total with tax, see total-rounding.ts. */
  rounding_amount?: number | undefined;
  /** A percentage, 0 to 100. */
  tax_rate: number;
  /** The category of lines that have a rate of 0 and no category of their own. Absent where it is unknown. */
  tax_category?: TaxCategory | undefined;
  /** True when the sums of the lines contain the tax. */
  prices_include_tax?: true | undefined;
  /** The taxes by rate and category. Absent when `tax_rate` alone gives them, see taxesOf. */
  taxes?: DocumentTax[] | undefined;
  description: string | null;
  line_items: LineItem[] | null;
  /** The parties, frozen when the document was sent. */
  parties?: Parties | undefined;
  /** The last day before the expiry event, see expiry.ts. Absent when there is no event to send. */
  expires_on?: string | undefined;
  /** Absent on a document that was never mailed. */
  delivery?: DocumentDelivery | undefined;
}

/** The declaration of discount and shipping in a mongoose schema. */
export const chargeFields = {
  discount_amount: Number,
  discount_percent: Number,
  shipping_amount: Number,
  shipping_tax_rate: Number,
  shipping_tax_category: String,
} as const;

export const documentTextFields = { notes: String, terms: String } as const;

/** The declaration of these fields in a mongoose schema. */
export const documentFields = {
  number: { type: Number, required: true },
  number_text: String,
  number_period: String,
  search: String,
  client_id: requiredIdField,
  project_id: idField,
  currency: { type: String, required: true },
  amount: { type: Number, required: true },
  subtotal: Number,
  ...chargeFields,
  tax_amount: { type: Number, required: true },
  rounding_amount: Number,
  tax_rate: { type: Number, required: true },
  tax_category: String,
  prices_include_tax: Boolean,
  taxes: { type: [Object], default: undefined },
  ...documentDateFields,
  description: String,
  ...documentTextFields,
  line_items: lineItemField,
  parties: partiesField,
  expires_on: String,
  delivery: deliveryField,
} as const;

/** Returns discount and shipping in the form of the API. */
export function chargesView({ currency, ...charges }: DocumentCharges & { currency: string }) {
  return {
    discount_amount: fromMinor(charges.discount_amount ?? 0, currency),
    discount_percent: charges.discount_percent ?? null,
    shipping_amount: fromMinor(charges.shipping_amount ?? 0, currency),
    shipping_tax_rate: charges.shipping_tax_rate ?? null,
    shipping_tax_category: charges.shipping_tax_category ?? null,
  };
}
