// Turns untrusted input into typed values. Past this file nothing is `unknown`.
import Joi from 'joi';
import { instantOf, isDay } from '#libs/day.ts';
import { AppError, type Details, validationFailed } from '#libs/errors.ts';
import { isId } from '#libs/models/tenant.ts';
import { currencyCodes, isCurrency } from '#libs/money.ts';
import { isPrintable, UNPRINTABLE } from '#libs/printable.ts';

/** The specification's words where joi has others. */
const messages: Joi.ValidationOptions['messages'] = {
  'any.required': '{{#label}} is required',
  'number.positive': '{{#label}} must be positive',
  'number.infinity': '{{#label}} must be a finite number',
  'number.unsafe': '{{#label}} is too large',
  'string.day': '{{#label}} must be a calendar day written YYYY-MM-DD',
  'string.currency': '{{#label}} must be a 3-letter ISO 4217 currency code',
  'string.guid': '{{#label}} must be a UUID',
  'string.instant': '{{#label}} must be an ISO 8601 timestamp',
  'string.blank': '{{#label}} must not be blank',
  'string.text': '{{#label}} must not hold control characters or broken Unicode',
};

const options: Joi.ValidationOptions = {
  abortEarly: false, // All problems at once: the caller repairs them in one round trip.
  stripUnknown: { objects: true },
  messages,
  errors: { wrap: { label: false, array: false } },
};

/** The longest list that any body may hold, and the most names. Joi judges each before it says that there are too many: 20,000 items take it a second. */
const LIST_MAX = 500;

type DetailsForm = 'list' | 'by-field';

/**
 * @param isChange a PATCH: at least one field that the shape knows, else 400 `No valid fields to update`.
 * @param details the form the operation answers problems in.
 * @returns what turns a body into a typed value or throws an AppError 400 with every problem.
 */
export function bodyReader<Body>(
  shape: Joi.ObjectSchema<Body>,
  { isChange = false, details = 'by-field' }: { isChange?: boolean; details?: DetailsForm | undefined } = {},
): (body: unknown) => Body {
  // JSON numbers stay numbers and strings stay strings: "12" is not an amount.
  const strict = shape.prefs({ ...options, convert: false });
  const known = new Map(
    Object.entries(shape.describe()['keys'] ?? {}).map(([name, one]) => [name, sizeMax(one as Joi.Description)]),
  );
  return (body) => {
    if (isChange && !namesOf(body).some((name) => known.has(name)))
      throw new AppError(400, 'No valid fields to update');
    const long = namesOf(body).filter((name) => known.has(name) && isTooLong((body as Record<string, unknown>)[name]));
    const { error, value } = strict.validate(
      long.length > 0 ? cut(body as Record<string, object>, long) : (body ?? {}),
    );
    const problems = [
      ...(error?.details ?? []).filter(({ path }) => !long.includes(String(path[0]))),
      ...long.map((name) => ({
        path: [name],
        message: tooLong(name, (body as Record<string, unknown>)[name], known.get(name)),
      })),
    ];
    if (problems.length > 0) throw validationFailed(details === 'list' ? listOf(problems) : byField(problems));
    return value as Body;
  };
}

/** How many items, or names, the shape of a list or an object allows. */
function sizeMax({ rules = [] }: Joi.Description): number {
  const max = (rules as { name: string; args?: { limit: number } }[]).find(({ name }) => name === 'max');
  return Math.min(LIST_MAX, max?.args?.limit ?? LIST_MAX);
}

/**
 * Query parameters arrive as text, so they are converted. A repeated parameter is an array, which no shape allows;
 * `status[$ne]=x` is what other query parsers make operators of.
 */
export function queryReader<Query>(
  shape: Joi.ObjectSchema<Query>,
  details: DetailsForm = 'by-field',
): (query: object) => Query {
  const lenient = shape.prefs(options);
  return (query) => {
    const odd = Object.keys(query).filter((name) => !PARAMETER_NAME.test(name));
    if (odd.length > 0) throw fieldProblem('query', 'query must hold plain parameter names only', details);
    const { error, value } = lenient.validate({ ...query });
    if (error) throw validationFailed(details === 'list' ? listOf(error.details) : byField(error.details));
    return value as Query;
  };
}

/** A problem that only shows when fields are put together, in the form the operation answers problems in. */
export function fieldProblem(field: string, message: string, details: DetailsForm = 'by-field') {
  return validationFailed(details === 'list' ? [message] : { [field]: [message] });
}

function namesOf(body: unknown): string[] {
  return body !== null && typeof body === 'object' && !Array.isArray(body) ? Object.keys(body) : [];
}

const PARAMETER_NAME = /^[\w-]{1,100}$/;

function isTooLong(value: unknown): boolean {
  return (Array.isArray(value) ? value : namesOf(value)).length > LIST_MAX;
}

/** In joi's own words. */
function tooLong(field: string, value: unknown, max: number | undefined): string {
  const [verb, noun] = Array.isArray(value) ? ['contain', 'items'] : ['have', 'keys'];
  return `${field} must ${verb} less than or equal to ${max} ${noun}`;
}

function cut(body: Record<string, object>, fields: readonly string[]): object {
  const first = (value: object) =>
    Array.isArray(value) ? value.slice(0, LIST_MAX) : Object.fromEntries(Object.entries(value).slice(0, LIST_MAX));
  return { ...body, ...Object.fromEntries(fields.map((field) => [field, first(body[field] ?? {})])) };
}

interface Problem {
  path: readonly (string | number)[];
  message: string;
}

function byField(problems: readonly Problem[]): Details {
  const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const { path, message } of problems) {
    const field = path.join('.') || 'body';
    fields[field] = [...(fields[field] ?? []), message];
  }
  return fields;
}

function listOf(problems: readonly Problem[]): Details {
  return problems.map(({ message }) => message);
}

const LONGEST = { string: 2_000, text: 20_000 } as const;
/** For the reference. */
const CONTROLS = UNPRINTABLE.source.slice(1, -1);
const PRINTABLE = `^[^${CONTROLS}]*$`;
/** … with something to see in it. */
const VISIBLE = `^[^${CONTROLS}]*[^\\s${CONTROLS}][^${CONTROLS}]*$`;

type Kinds = 'day' | 'text' | 'name' | 'uuid' | 'currency' | 'instant';

const extended: Joi.Root & Record<Kinds, () => Joi.StringSchema> = Joi.extend(
  (joi) => ({
    type: 'day',
    base: joi.string(),
    validate: (value: string, { error }: Joi.CustomHelpers) =>
      isDay(value) ? { value } : { value, errors: error('string.day') },
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', format: 'date', minLength: 10 }),
  }),
  (joi) => ({
    type: 'text',
    base: joi.string(),
    validate: (value: string, { error }: Joi.CustomHelpers) =>
      isPrintable(value) ? { value } : { value, errors: error('string.text') },
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', minLength: 1, pattern: PRINTABLE }),
  }),
  (joi) => ({
    type: 'name',
    base: joi.string(),
    validate(value: string, { error }: Joi.CustomHelpers) {
      if (!isPrintable(value)) return { value, errors: error('string.text') };
      return value.trim() === '' ? { value, errors: error('string.blank') } : { value };
    },
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', minLength: 1, pattern: VISIBLE }),
  }),
  (joi) => ({
    type: 'uuid',
    base: joi.string(),
    validate: (value: string, { error }: Joi.CustomHelpers) =>
      isId(value) ? { value: value.toLowerCase() } : { value, errors: error('string.guid') },
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', format: 'uuid', minLength: 36 }),
  }),
  (joi) => ({
    type: 'currency',
    base: joi.string(),
    validate: (value: string, { error }: Joi.CustomHelpers) => {
      const code = value.toUpperCase();
      return isCurrency(code) ? { value: code } : { value, errors: error('string.currency') };
    },
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', enum: currencyCodes }),
  }),
  (joi) => ({
    type: 'instant',
    base: joi.string(),
    validate(value: string, { error }: Joi.CustomHelpers) {
      // An unescaped + in a query is a blank by the time it gets here.
      const text = value.replace(' ', '+');
      const date = instantOf(text);
      return date ? { value: date } : { value, errors: error('string.instant') };
    },
    jsonSchema: (_schema: unknown, result: object) => ({
      ...result,
      type: 'string',
      format: 'date-time',
      minLength: 10,
    }),
  }),
);

/** A real calendar day, `YYYY-MM-DD`. */
export const day = () => extended.day();
/** A moment in ISO 8601, or a day for its first moment in UTC; read as a Date. */
export const instant = () => extended.instant();
/** What something is called: one line with something to see in it. */
export const name = () => extended.name().max(LONGEST.string);
/** One line: at most 2,000 characters. */
export const line = () => extended.text().max(LONGEST.string);
/** Several paragraphs: at most 20,000 characters. */
export const text = () => extended.text().max(LONGEST.text);
/** A UUID in its usual form, read in small letters. */
export const uuid = () => extended.uuid();
/** An ISO 4217 code, read in capitals. */
export const currency = () => extended.currency();
