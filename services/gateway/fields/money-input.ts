// Money as callers send it: what quotes and invoices have in common.
import Joi from 'joi';
import { AMOUNT_MAX, type Decimal } from '#libs/billing/money.ts';
import { type LineItem, lineItem } from '#libs/models/billing/line-item.ts';
import { withNulls } from '../http/optional-fields.ts';
import { decimal } from './decimal-input.ts';
import { paragraphs } from './input-fields.ts';
import { number } from './number-input.ts';

/** A document of more lines is a file, not a request. */
const LINES_MAX = 500;
const QUANTITY_MAX = 1_000_000_000;
const RATE_MAX = 1_000_000_000_000;

export interface LineInput {
  description: string;
  quantity?: Decimal;
  /** Its name in responses. */
  qty?: Decimal;
  rate: Decimal;
  discount: Decimal;
}

// Negative lines are credits; only the sum must not be negative.
const quantity = () => decimal().within(-QUANTITY_MAX, QUANTITY_MAX);

const OR_STRING = 'A plain decimal string as well, so that lines go back in as responses write them';

const lineInput = withNulls(
  Joi.object<LineInput, true>({
    description: paragraphs().required(),
    quantity: quantity()
      .when('qty', { is: Joi.exist(), otherwise: Joi.required() })
      .description(`Required unless \`qty\` is given. ${OR_STRING}`),
    qty: quantity().description('The same as `quantity`, under its name in responses'),
    rate: decimal().within(-RATE_MAX, RATE_MAX).required().description(OR_STRING),
    discount: decimal().within(0, 100).default(0).description(`Per cent. ${OR_STRING}`),
  }).meta({ schema: 'LineItemInput' }),
);

export function lineItems() {
  return Joi.array().items(lineInput).max(LINES_MAX).allow(null);
}

export function percentage() {
  return number().min(0).max(100);
}

/** Of a new document. */
export function newTaxRate() {
  return percentage().description("Per cent. Unless given, the account's `default_tax_rate`, else 0");
}

export function amount() {
  return number().min(0).max(AMOUNT_MAX);
}

/** An empty list is no list: the amount is the caller's. */
export function storedLines(lines: readonly LineInput[] | null | undefined): LineItem[] | null {
  if (!lines || lines.length === 0) return null;
  return lines.map(({ description, quantity, qty, rate, discount }) =>
    // One of the two is required; when both are given, the specification's own name counts.
    lineItem({ description, qty: quantity ?? qty ?? 0, rate, discount }),
  );
}
