// Money as callers send it: what quotes and invoices have in common.
import Joi from 'joi';
import { refuse } from '#libs/input/joi-problems.ts';
import { paragraphs, uuid } from '#libs/input/kinds.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { GivenCharges } from '#libs/rules/documents/document-charges.ts';
import { type LineItem, lineItem } from '#libs/rules/documents/line-item.ts';
import { isUnit, UNIT_NAMES } from '#libs/rules/documents/units.ts';
import { AMOUNT_MAX, type Decimal } from '#libs/rules/money/money.ts';
import { TAX_CATEGORIES, type TaxCategory } from '#libs/rules/taxes/tax-groups.ts';
import { withNulls } from '../http/optional-fields.ts';
import { decimal } from './decimal-input.ts';
import { number } from './number-input.ts';

/** A document of more lines is a file, not a request. */
const LINES_MAX = 500;
const QUANTITY_MAX = 1_000_000_000;
const RATE_MAX = 1_000_000_000_000;
/** Characters of the longest name of a unit. Codes have three. */
const UNIT_LONGEST = 10;

export interface LineInput {
  /** Its fields are copied, see item-lines.ts: then the line has them by the time a handler's work runs. */
  item_id?: Id;
  description: string;
  quantity?: Decimal;
  /** Its name in responses. */
  qty?: Decimal;
  rate: Decimal;
  discount: Decimal;
  tax_rate?: number;
  tax_category?: TaxCategory;
  unit?: string;
}

/** A line of a credit note. */
export interface CreditLineInput extends LineInput {
  line?: number;
}

// Negative lines are credits; only the sum must not be negative.
const quantity = () => decimal().within(-QUANTITY_MAX, QUANTITY_MAX);

const OR_STRING = 'A plain decimal string as well, so that lines go back in as responses write them';

const lineFields = {
  item_id: uuid().description(
    'An item of the catalogue: its name and description, rate, tax rate and unit are copied unless the line has its own',
  ),
  description: paragraphs()
    .when('item_id', { is: Joi.exist(), otherwise: Joi.required() })
    .description('Required unless `item_id` is given'),
  quantity: quantity()
    .when('qty', { is: Joi.exist(), otherwise: Joi.required() })
    .description(`Required unless \`qty\` is given. ${OR_STRING}`),
  qty: quantity().description('The same as `quantity`, under its name in responses'),
  rate: decimal()
    .within(-RATE_MAX, RATE_MAX)
    .when('item_id', { is: Joi.exist(), otherwise: Joi.required() })
    .description(`Required unless \`item_id\` is given. ${OR_STRING}`),
  discount: decimal().within(0, 100).default(0).description(`Per cent. ${OR_STRING}`),
  tax_rate: percentage().description("Per cent. The document's unless given; 0 in every category but `S`"),
  tax_category: taxCategory(),
  unit: unit(),
};

const lineInput = withNulls(
  Joi.object<LineInput, true>(lineFields).custom(rateOfCategory).meta({ schema: 'LineItemInput' }),
);

const creditLineInput = withNulls(
  Joi.object<CreditLineInput, true>({
    ...lineFields,
    tax_rate: percentage().description(
      'Per cent. Unless given, that of `line`, or the only one of the invoice; where it has several, one of the two is required',
    ),
    line: Joi.number()
      .integer()
      .min(1)
      .max(LINES_MAX)
      .description(
        'The line of the invoice that it credits, from 1. Its tax counts; at its price no more than its quantity is credited, and the pieces sum to it',
      ),
  })
    .custom(rateOfCategory)
    .meta({ schema: 'CreditLineInput' }),
);

/** Returns the shape of the unit of a quantity. */
export function unit() {
  return Joi.string()
    .max(UNIT_LONGEST)
    .custom(knownUnit)
    .example('hour')
    .description(`One of ${UNIT_NAMES.map((name) => `\`${name}\``).join(', ')}, or a code of UN/ECE Recommendation 20`);
}

function taxCategory() {
  return Joi.string()
    .valid(...TAX_CATEGORIES)
    .description(
      'Of EN 16931: standard and reduced rates, zero rate, exempt, reverse charge, export, outside the scope, goods within the EU. `S` where a rate is charged',
    );
}

function knownUnit(unit: string, helpers: Joi.CustomHelpers) {
  if (isUnit(unit)) return unit;
  const text = `{{#label}} must be one of ${UNIT_NAMES.join(', ')}, or a code of UN/ECE Recommendation 20`;
  return refuse(helpers, 'invalid_unit', text);
}

function rateOfCategory(line: LineInput, helpers: Joi.CustomHelpers) {
  const { tax_rate, tax_category } = line;
  if (!tax_category || tax_rate === undefined || (tax_category === 'S') === tax_rate > 0) return line;
  const [code, wanted] =
    tax_category === 'S' ? (['rate_needed', 'greater than 0'] as const) : (['rate_not_allowed', '0'] as const);
  const text = `{{#label}}.tax_rate must be ${wanted} in tax_category ${tax_category}`;
  return refuse(helpers, code, text, { rate: 'tax_rate', category: tax_category });
}

export function lineItems() {
  return Joi.array().items(lineInput).max(LINES_MAX).allow(null);
}

/** Returns the shape of the lines of a credit note. */
export function creditLineItems() {
  return Joi.array().items(creditLineInput).max(LINES_MAX).allow(null);
}

/** Returns the shape of an item's rate. It has the bounds of a line's rate. */
export function rate() {
  return number().min(-RATE_MAX).max(RATE_MAX);
}

export function percentage() {
  return number().min(0).max(100);
}

/** Returns the shape of the tax rate of a new document. */
export function newTaxRate() {
  return percentage().description(
    "Per cent. Unless given, 0 where the client's `tax_treatment` charges no tax, else the account's `default_tax_rate`, else 0",
  );
}

export function pricesIncludeTax() {
  return Joi.boolean().description(
    'The sums of the lines contain the tax: `total` is their sum, `amount` what is left of it before tax. Needs `line_items`',
  );
}

export function amount() {
  return number().min(0).max(AMOUNT_MAX);
}

export const chargesInput = {
  discount_amount: charge().description(
    'Off the sum of `line_items`, which it needs; spread over the tax rates in proportion. With tax where prices include it',
  ),
  discount_percent: decimal()
    .within(0, 100)
    .allow(null)
    .description('In place of `discount_amount`: of the sum of `line_items`, and follows it when lines change'),
  shipping_amount: charge().description('On top of `line_items`, which it needs. With tax where prices include it'),
  shipping_tax_rate: percentage().allow(null).description("Per cent. The document's unless given"),
  shipping_tax_category: taxCategory().allow(null),
};

/** The same where the operation makes the lines. */
export const chargesOfMadeLines = {
  ...chargesInput,
  discount_amount: charge().description(
    'Off the sum of its lines; spread over the tax rates in proportion. With tax where prices include it',
  ),
  discount_percent: chargesInput.discount_percent.description(
    'In place of `discount_amount`: of the sum of its lines, and follows it when lines change',
  ),
  shipping_amount: charge().description('On top of its lines. With tax where prices include it'),
};

/** The fields of a body for discount and shipping. */
export type ChargesInput = GivenCharges;

function charge() {
  return decimal().within(0, AMOUNT_MAX).allow(null);
}

/** An empty list is no list: the amount is the caller's. */
export function storedLines(lines: readonly CreditLineInput[] | null | undefined): LineItem[] | null {
  if (!lines || lines.length === 0) return null;
  return lines.map(({ quantity, qty, ...line }) =>
    // One of the two is required; when both are given, the specification's own name counts.
    lineItem({ ...line, qty: quantity ?? qty ?? 0 }),
  );
}
