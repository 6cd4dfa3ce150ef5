// Turns the JSON of a body into typed values. Past this file nothing is `unknown`.
import type Joi from 'joi';
import { appError, type DetailsForm, problemOf, validationFailed } from '#libs/errors.ts';
import { problemOfJoi } from '#libs/input/joi-problems.ts';
import { validation } from '#libs/input/kinds.ts';
import { knownNames } from './known-names.ts';
import type { Profile } from './route.ts';
import { fieldsOf } from './shape-fields.ts';

/** The longest list that any body may hold, and the most names. Joi validates each before it reports that there are too many: 20,000 items take it a second. */
const LIST_MAX = 1_000;

/** Names of one thing in different records. The wrong one would be ignored like any unknown name, and with it what the work costs. */
const OTHER_NAME: Readonly<Record<string, string>> = { hourly_rate: 'rate', rate: 'hourly_rate' };

/** The meta `settledBy` of a field: true for an account whose settings stand in for it. */
type SettledBy = (account: Profile | undefined) => boolean;

interface BodyOptions {
  /** A PATCH: at least one field that the shape knows, else 400 `No valid fields to update`. */
  isChange?: boolean;
  /** The form of `details`. */
  details?: DetailsForm | undefined;
  /** Names that the body must not contain: fields of a new record that a change cannot set. */
  immutable?: readonly string[] | undefined;
  /** See Route.ignoresNestedNames. */
  ignoresNestedNames?: boolean | undefined;
  /** Values that replace null, by field. */
  defaults?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * @returns what turns a body into a typed value, and names what it ignored, or throws an AppError 400 with every problem.
 */
export function bodyReader<Body>(
  shape: Joi.ObjectSchema<Body>,
  { isChange = false, details, immutable = [], defaults = {}, ignoresNestedNames }: BodyOptions = {},
): (body: unknown, account?: Profile) => { body: Body; ignored: readonly string[] } {
  // JSON numbers stay numbers and strings stay strings: "12" is not an amount.
  const strict = shape.prefs({ ...validation, convert: false });
  const known = new Map([...fieldsOf(shape)].map(([name, field]) => [name, sizeMax(field)]));
  const prune = knownNames(shape);
  const settled = settledFields(shape);
  return (given, account) => {
    const misnamed = misnamedIn(given, known);
    const rejected = immutable.filter((name) => namesOf(given).includes(name));
    if (isChange && rejected.length + misnamed.length === 0 && !namesOf(given).some((name) => known.has(name)))
      throw appError('no_valid_fields');
    const pruned = prune(given);
    const body = withDefaults(pruned.value, defaults);
    const long = namesOf(body).filter((name) => known.has(name) && isTooLong((body as Record<string, unknown>)[name]));
    const { error, value } = strict.validate(
      long.length > 0 ? cut(body as Record<string, object>, long) : (body ?? {}),
      { context: { account } },
    );
    const problems = [
      ...rejected.map((name) => problemOf(name, 'immutable')),
      ...misnamed.map((name) => problemOf(name, 'misnamed', { name: OTHER_NAME[name] ?? '' })),
      ...(ignoresNestedNames ? [] : pruned.unknown),
      ...(error?.details ?? []).filter(({ path }) => !long.includes(String(path[0]))).map(problemOfJoi),
      ...long.map((name) => {
        const isOfItems = Array.isArray((body as Record<string, unknown>)[name]);
        return problemOf(name, isOfItems ? 'too_many_items' : 'too_many_fields', {
          limit: known.get(name) ?? LIST_MAX,
        });
      }),
    ];
    if (problems.length > 0) {
      const absent = Object.keys(settled).filter((name) => !namesOf(body).includes(name) && !settled[name]?.(account));
      throw validationFailed([...problems, ...absent.map((name) => problemOf(name, 'required'))], details);
    }
    return { body: value as Body, ignored: pruned.ignored };
  };
}

/**
 * Fields that are required unless the settings of account or client say what they are, with what tells whether the account's do. The
 * handler finds out about the client. Beside other problems such a field is missing, too, so that all of them come at once.
 */
function settledFields(shape: Joi.ObjectSchema): Record<string, SettledBy> {
  const metasOf = (field: Joi.Schema) => (field.$_terms['metas'] ?? []) as { settledBy?: SettledBy }[];
  const found = [...fieldsOf(shape)].map(
    ([name, field]) => [name, metasOf(field).find((meta) => meta.settledBy)] as const,
  );
  return Object.fromEntries(found.flatMap(([name, meta]) => (meta?.settledBy ? [[name, meta.settledBy]] : [])));
}

function withDefaults(body: unknown, defaults: Readonly<Record<string, unknown>>): unknown {
  const empty = namesOf(body).filter((name) => name in defaults && (body as Record<string, unknown>)[name] === null);
  if (empty.length === 0) return body;
  return { ...(body as object), ...Object.fromEntries(empty.map((name) => [name, defaults[name]])) };
}

/** Beside the right name the other one is ignored: a record that was read has both, and may be sent back. */
function misnamedIn(body: unknown, known: ReadonlyMap<string, unknown>): string[] {
  const names = namesOf(body);
  return names.filter((name) => {
    const other = Object.hasOwn(OTHER_NAME, name) ? OTHER_NAME[name] : undefined;
    return other !== undefined && !known.has(name) && known.has(other) && !names.includes(other);
  });
}

/** How many items, or names, the shape of a list or an object allows. */
function sizeMax(field: Joi.Schema): number {
  return Math.min(LIST_MAX, field.$_getRule('max')?.args?.['limit'] ?? LIST_MAX);
}

function namesOf(body: unknown): string[] {
  return body !== null && typeof body === 'object' && !Array.isArray(body) ? Object.keys(body) : [];
}

function isTooLong(value: unknown): boolean {
  return (Array.isArray(value) ? value : namesOf(value)).length > LIST_MAX;
}

function cut(body: Record<string, object>, fields: readonly string[]): object {
  const first = (value: object) =>
    Array.isArray(value) ? value.slice(0, LIST_MAX) : Object.fromEntries(Object.entries(value).slice(0, LIST_MAX));
  return { ...body, ...Object.fromEntries(fields.map((field) => [field, first(body[field] ?? {})])) };
}
