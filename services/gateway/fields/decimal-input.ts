// A decimal as callers send it: a JSON number, or a string in the form in which responses write decimals.
import Big from 'big.js';
import Joi from 'joi';
import { DECIMALS_KEPT, type Decimal } from '#libs/rules/money/money.ts';

/** The form of decimals in responses. The largest price bounds the digits before the point, and DECIMALS_KEPT those after it. */
const PLAIN_DECIMAL = new RegExp(`^-?\\d{1,13}(?:\\.\\d{1,${DECIMALS_KEPT}})?$`);

type DecimalSchema = Joi.AlternativesSchema<Decimal> & { within(min: number, max: number): DecimalSchema };

const decimals: { decimal(): DecimalSchema } = Joi.extend((joi) => ({
  type: 'decimal',
  base: joi.any(),
  messages: {
    'decimal.base': '{{#label}} must be a number or a plain decimal such as "1.50"',
    'decimal.min': '{{#label}} must be greater than or equal to {{#min}}',
    'decimal.max': '{{#label}} must be less than or equal to {{#max}}',
  },
  validate: (value: unknown, { error }: Joi.CustomHelpers) => {
    const isDecimal = typeof value === 'string' ? PLAIN_DECIMAL.test(value) : Number.isFinite(value);
    return isDecimal ? { value } : { value, errors: error('decimal.base') };
  },
  rules: {
    within: {
      method(this: Joi.AnySchema, min: number, max: number) {
        return this.$_addRule({ name: 'within', args: { min, max } });
      },
      args: ['min', 'max'].map((name) => ({ name, ref: false, assert: Number.isFinite, message: 'must be a number' })),
      validate: (value: Decimal, { error }: Joi.CustomHelpers, { min, max }: { min: number; max: number }) => {
        // Not as a double: a string keeps all of its digits.
        const exact = new Big(value);
        if (exact.lt(min)) return error('decimal.min', { min });
        return exact.gt(max) ? error('decimal.max', { max }) : value;
      },
    },
  },
  // The specification's type alone: many generators make a class of its own for a number that may be a string.
  jsonSchema: (schema: Joi.AnySchema, result: object) => {
    const { min, max } = (schema.$_getRule('within') as unknown as { args: { min: number; max: number } }).args;
    return { ...result, type: 'number', minimum: min, maximum: max, 'x-decimal-string': true };
  },
}));

/** Returns the shape of a decimal, bounded by `within(min, max)`. A string keeps all of its digits, because it is never read as a double. */
export const decimal = () => decimals.decimal();
