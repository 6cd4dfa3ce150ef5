// Turns untrusted input into typed values. Past this file nothing is `unknown`.
import Joi from 'joi';
import { isDay } from '#libs/day.ts';
import { AppError, type Details, validationFailed } from '#libs/errors.ts';

/** The specification's words where joi has others. */
const messages: Joi.ValidationOptions['messages'] = {
  'any.required': '{{#label}} is required',
  'number.positive': '{{#label}} must be positive',
  'number.infinity': '{{#label}} must be a finite number',
  'number.unsafe': '{{#label}} is too large',
  'string.day': '{{#label}} must be a calendar day written YYYY-MM-DD',
  'string.guid': '{{#label}} must be a UUID',
  'string.text': '{{#label}} must not hold control characters or broken Unicode',
};

const options: Joi.ValidationOptions = {
  abortEarly: false, // All problems at once: the caller repairs them in one round trip.
  stripUnknown: { objects: true },
  messages,
  errors: { wrap: { label: false, array: false } },
};

/** @throws AppError 400 with every problem. @param details the shape the operation answers problems in. */
export function readBody<Body>(
  body: unknown,
  shape: Joi.ObjectSchema<Body>,
  details: 'list' | 'by-field' = 'by-field',
): Body {
  // JSON numbers stay numbers and strings stay strings: "12" is not an amount.
  const { error, value } = shape.validate(body ?? {}, { ...options, convert: false });
  if (error) throw validationFailed(details === 'list' ? listOf(error) : byField(error));
  return value as Body;
}

/** A PATCH: at least one field that the shape knows. @throws AppError 400 `No valid fields to update`. */
export function readChanges<Body>(body: unknown, shape: Joi.ObjectSchema<Body>, details?: 'list' | 'by-field'): Body {
  const known = new Set(Object.keys(shape.describe()['keys'] ?? {}));
  const given = body !== null && typeof body === 'object' && !Array.isArray(body) ? Object.keys(body) : [];
  if (!given.some((name) => known.has(name))) throw new AppError(400, 'No valid fields to update');
  return readBody(body, shape, details);
}

/** Query parameters arrive as text, so they are converted. A repeated parameter is an array, which no shape allows. */
export function readQuery<Query>(query: unknown, shape: Joi.ObjectSchema<Query>): Query {
  const { error, value } = shape.validate({ ...(query as object) }, options);
  if (error) throw validationFailed(byField(error));
  return value as Query;
}

function byField({ details }: Joi.ValidationError): Details {
  const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const { path, message } of details) {
    const field = path.join('.') || 'body';
    fields[field] = [...(fields[field] ?? []), message];
  }
  return fields;
}

function listOf({ details }: Joi.ValidationError): Details {
  return details.map(({ message }) => message);
}

const LONGEST = { string: 2_000, text: 20_000 } as const;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to refuse.
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
/** The same for the reference. */
const PRINTABLE = `^[^${UNPRINTABLE.source.slice(1, -1)}]*$`;

const extended: Joi.Root & { day(): Joi.StringSchema; text(): Joi.StringSchema } = Joi.extend(
  (joi) => ({
    type: 'day',
    base: joi.string(),
    validate: (value: string, { error }: Joi.CustomHelpers) =>
      isDay(value) ? { value } : { value, errors: error('string.day') },
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', format: 'date' }),
  }),
  (joi) => ({
    type: 'text',
    base: joi.string(),
    // A lone surrogate cannot be stored as UTF-8: it would come back as another text.
    validate: (value: string, { error }: Joi.CustomHelpers) =>
      value.isWellFormed() && !UNPRINTABLE.test(value) ? { value } : { value, errors: error('string.text') },
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', minLength: 1, pattern: PRINTABLE }),
  }),
);

/** A real calendar day, `YYYY-MM-DD`. */
export const day = () => extended.day();
/** One line or a name: at most 2,000 characters. */
export const line = () => extended.text().max(LONGEST.string);
/** Several paragraphs: at most 20,000 characters. */
export const text = () => extended.text().max(LONGEST.text);
/** A UUID in its usual form. */
export const uuid = () => Joi.string().guid({ separator: '-' });
