// The kinds of values that callers send, and the messages about wrong ones.
import Joi from 'joi';
import { instantOf, isDay } from '#libs/day.ts';
import { isId } from '#libs/models/tenant.ts';
import { isPlainLine, isPlainName, isPrintable, LINE_BREAK, UNPRINTABLE } from '#libs/printable.ts';
import { isCurrency } from '#libs/rules/money/money.ts';

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
  'string.moment': '{{#label}} must be an ISO 8601 timestamp with time and zone, such as 2026-11-02T09:00:00Z',
  'string.blank': '{{#label}} must not be blank',
  'string.line': '{{#label}} must be one line',
  'string.text': '{{#label}} must not hold control characters or broken Unicode',
};

/** How input is validated, see read-body.ts and read-query.ts. */
export const validation: Joi.ValidationOptions = {
  abortEarly: false, // All problems at once: the caller repairs them in one round trip.
  stripUnknown: { objects: true },
  messages,
  errors: { wrap: { label: false, array: false } },
};

const LONGEST = { string: 2_000, text: 20_000 } as const;
/** Characters that no text may contain, for the patterns of the reference. */
const CONTROLS = UNPRINTABLE.source.slice(1, -1);
const BREAKS = LINE_BREAK.source.slice(1, -1);

/**
 * Text that people write. One line loses the blanks around it.
 * @param isVisible rejects a text that shows nothing; otherwise only blanks are read as the empty text.
 */
function words(type: Kinds, { isOneLine, isVisible }: { isOneLine: boolean; isVisible: boolean }) {
  const rejected = isOneLine ? CONTROLS + BREAKS : CONTROLS;
  const pattern = isVisible ? `^[^${rejected}]*[^\\s${rejected}][^${rejected}]*$` : `^[^${rejected}]*$`;
  return (joi: Joi.Root) => ({
    type,
    base: joi.string(),
    validate(value: string, { error }: Joi.CustomHelpers) {
      const trimmed = value.trim();
      const isText = type === 'name' ? isPlainName(value) : isOneLine ? isPlainLine(value) : isPrintable(value);
      if (!isText) return { value, errors: error('string.text') };
      if (trimmed === '') return isVisible ? { value, errors: error('string.blank') } : { value: '' };
      if (isOneLine && LINE_BREAK.test(trimmed)) return { value, errors: error('string.line') };
      return { value: isOneLine ? trimmed : value };
    },
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', minLength: 1, pattern }),
  });
}

/** @param shortest the form with the fewest characters: a bare day only where it is a day. */
function timestamp(type: Kinds, { shortest }: { shortest: string }) {
  return (joi: Joi.Root) => ({
    type,
    base: joi.string(),
    validate(value: string, { error }: Joi.CustomHelpers) {
      // An unescaped + in a query is a blank by the time it gets here.
      const text = value.replace(' ', '+');
      const date = text.length < shortest.length ? undefined : instantOf(text);
      return date ? { value: date } : { value, errors: error(`string.${type}`) };
    },
    jsonSchema: (_schema: unknown, result: object) => ({
      ...result,
      type: 'string',
      format: 'date-time',
      minLength: shortest.length,
    }),
  });
}

type Kinds = 'day' | 'text' | 'line' | 'name' | 'paragraphs' | 'uuid' | 'currency' | 'instant' | 'moment';

const extended: Joi.Root & Record<Kinds, () => Joi.StringSchema> = Joi.extend(
  (joi) => ({
    type: 'day',
    base: joi.string(),
    validate: (value: string, { error }: Joi.CustomHelpers) =>
      isDay(value) ? { value } : { value, errors: error('string.day') },
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', format: 'date', minLength: 10 }),
  }),
  words('name', { isOneLine: true, isVisible: true }),
  words('line', { isOneLine: true, isVisible: false }),
  words('paragraphs', { isOneLine: false, isVisible: true }),
  words('text', { isOneLine: false, isVisible: false }),
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
    // A pattern, not the codes: generators make a type of a list, which another release of ISO 4217 breaks.
    jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'string', pattern: '^[A-Za-z]{3}$' }),
  }),
  timestamp('instant', { shortest: '2026-11-02' }),
  timestamp('moment', { shortest: '2026-11-02T09:00Z' }),
);

/** A real calendar day, `YYYY-MM-DD`. */
export const day = () => extended.day();
/** A moment in ISO 8601, or a day for its first moment in UTC; read as a Date. */
export const instant = () => extended.instant();
/** Returns the shape of an instant() that must have a time and a zone: a date alone would guess that work began at midnight. */
export const moment = () => extended.moment();
/** Returns the shape of a name: one line with at least one visible character. */
export const name = () => extended.name().max(LONGEST.string);
/** One line, at most 2,000 characters; only blanks are read as the empty text. */
export const line = () => extended.line().max(LONGEST.string);

/** The most characters of a reference. */
export const REFERENCE_LONGEST = 200;

/** A reference that another party gives, such as the number of an order or of a bank transfer. */
export const reference = () => line().max(REFERENCE_LONGEST);
/** The text of a line item: with something to see in it, of several lines if need be, at most 2,000 characters. */
export const paragraphs = () => extended.paragraphs().max(LONGEST.string);
/** Several paragraphs, at most 20,000 characters; only blanks are read as the empty text. */
export const text = () => extended.text().max(LONGEST.text);
/** A UUID in its usual form, read in small letters. */
export const uuid = () => extended.uuid();
/** An ISO 4217 code, read in capitals. */
export const currency = () => extended.currency();
/** The currency of a new record of a client. */
export const clientCurrency = () => currency().description("The client's unless given, else the account's, else USD");
