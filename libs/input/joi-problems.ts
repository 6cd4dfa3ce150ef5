// The problems that joi finds, under codes of our own: another version of joi, or another library, changes none of them.
import type Joi from 'joi';
import type { Params, Problem, ProblemCode } from '#libs/errors.ts';

/** Joi's names of problems. One that is missing here is `invalid`. */
const CODES: Readonly<Record<string, ProblemCode>> = {
  'any.invalid': 'invalid',
  'any.only': 'not_one_of',
  'any.required': 'required',
  'any.unknown': 'not_allowed',
  'alternatives.match': 'invalid_decimal',
  'alternatives.types': 'invalid_decimal',
  'array.base': 'wrong_type',
  'array.length': 'wrong_count',
  'array.max': 'too_many_items',
  'array.min': 'too_few_items',
  'array.unique': 'duplicate',
  'boolean.base': 'wrong_type',
  'decimal.base': 'invalid_decimal',
  'decimal.max': 'too_large',
  'decimal.min': 'too_small',
  'event.unknown': 'unknown_event_type',
  'hours.written': 'invalid_hours',
  'number.base': 'wrong_type',
  'number.greater': 'not_greater',
  'number.infinity': 'not_finite',
  'number.integer': 'not_integer',
  'number.max': 'too_large',
  'number.min': 'too_small',
  'number.positive': 'not_positive',
  'number.unsafe': 'beyond_exact',
  'object.base': 'wrong_type',
  'object.max': 'too_many_fields',
  'object.min': 'too_few_fields',
  'object.missing': 'one_required',
  'object.unknown': 'unknown_field',
  'object.with': 'needs',
  'string.base': 'wrong_type',
  'string.blank': 'blank',
  'string.colour': 'invalid_colour',
  'string.currency': 'invalid_currency',
  'string.day': 'invalid_date',
  'string.domain': 'invalid_domain',
  'string.email': 'invalid_email',
  'string.empty': 'empty',
  'string.guid': 'invalid_uuid',
  'string.image': 'invalid_image',
  'string.instant': 'invalid_timestamp',
  'string.length': 'wrong_length',
  'string.line': 'not_one_line',
  'string.max': 'too_long',
  'string.min': 'too_short',
  'string.moment': 'invalid_timestamp',
  'string.pattern.base': 'invalid_format',
  'string.printable': 'unprintable',
  'string.text': 'unprintable',
};

/** Joi's name of a problem that a custom rule of ours has found. */
const OWN = 'custom';

interface OwnContext {
  code: ProblemCode;
  params: Params;
}

/** Returns what a custom rule of a shape returns about a wrong value. @param text in joi's form: `{{#label}} is no BIC`. */
export function refuse(
  { message }: Pick<Joi.CustomHelpers, 'message'>,
  code: ProblemCode,
  text: string,
  params: Params = {},
): Joi.ErrorReport {
  const context: OwnContext = { code, params };
  return message({ custom: text }, context) as unknown as Joi.ErrorReport;
}

/** Returns the problem that joi has found. */
export function problemOfJoi({ path, message, type, context = {} }: Joi.ValidationErrorItem): Problem {
  if (type === OWN) {
    const { code, params } = context as unknown as Partial<OwnContext>;
    return { path, message, code: code ?? 'invalid', params };
  }
  return {
    path,
    code: CODES[type] ?? 'invalid',
    // A list of allowed values does not name null: it stands for a value not given.
    message: type === 'any.only' ? message.replace(/, null$/, '') : message,
    params: paramsOf(type, context),
  };
}

/** Returns the parameters in the message of joi. */
function paramsOf(type: string, context: Readonly<Record<string, unknown>>): Params {
  const { limit, min, max, valids, peer, peers, value } = context;
  const bound = limit ?? min ?? max;
  if (type === 'any.only') return { values: (valids as unknown[]).filter((one) => one !== null).map(String) };
  if (type === 'object.with') return { other: String(peer) };
  if (type === 'object.missing') return { fields: (peers as unknown[]).map(String) };
  if (type === 'event.unknown') return { event: String(value) };
  if (type.endsWith('.base') && CODES[type] === 'wrong_type') return { type: type.slice(0, -'.base'.length) };
  return typeof bound === 'number' ? { limit: bound } : {};
}
