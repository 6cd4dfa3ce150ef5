// Turns joi shapes into JSON Schema 2020-12, the dialect of OpenAPI 3.1: joi writes most of it, this adds what it loses.
import { memoize } from 'es-toolkit/function/memoize';
import type Joi from 'joi';

export interface JsonSchema {
  [keyword: string]: unknown;
}

/** The direction of a body: from the caller, or to it. */
type Direction = 'input' | 'output';

/** Adds a schema to the components and returns the reference to it. */
export type Register = (name: string, schema: JsonSchema) => JsonSchema;

/** The part of the result of joi's `describe()` that this file reads. */
interface Description {
  keys?: Record<string, Description>;
  items?: Description[];
  examples?: unknown[];
  /** `schema` names an inner shape. `isRequired` is set on a field that other fields, or settings, can replace: see `withRequired`. */
  metas?: Array<{ schema?: string; isRequired?: true }>;
}

/**
 * Returns the schema without conditions between fields, which descriptions state: generators make unions, or nothing at all, of `anyOf` beside `properties`.
 * @param direction `input` is what a caller sends (defaults make a field optional), `output` is what it gets.
 * @param register gets every inner shape that has a name (`meta({ schema })`), so that generators make one class of it; without it all stands inline.
 */
export function jsonSchemaOf(shape: Joi.Schema, direction: Direction, register?: Register): JsonSchema {
  return annotate(writtenIn[direction](shape), describe(shape), register);
}

export function exampleOf(shape: Joi.Schema | undefined): unknown {
  return (shape?.$_terms['examples'] as unknown[] | undefined)?.[0];
}

/** Its `id()`, by which the document refers to it. */
export function schemaNameOf(shape: Joi.Schema): string | undefined {
  return shape.$_getFlag('id') as string | undefined;
}

// Many operations have one shape, and joi takes milliseconds for each.
const describe = memoize((shape: Joi.Schema) => shape.describe() as Description);
const writtenIn = {
  input: memoize((shape: Joi.Schema) => written(shape, 'input')),
  output: memoize((shape: Joi.Schema) => written(shape, 'output')),
};

function written(shape: Joi.Schema, direction: Direction): JsonSchema {
  return tidy(shape['~standard'].jsonSchema[direction]({ target: 'draft-2020-12' }) as JsonSchema, direction);
}

function tidy(schema: JsonSchema, direction: Direction): JsonSchema {
  const inner = (part: JsonSchema) => tidy(part, direction);
  const { additionalProperties, ...rest } = schema;
  // Unknown fields of a body are ignored and responses may grow: neither is closed.
  const tidied: JsonSchema = additionalProperties === false ? rest : schema;
  for (const keyword of ['properties', 'patternProperties'] as const) {
    const named = tidied[keyword] as Record<string, JsonSchema> | undefined;
    if (named) tidied[keyword] = mapValues(named, inner);
  }
  const { '.*': anyName, ...otherNames } = (tidied['patternProperties'] ?? {}) as Record<string, JsonSchema>;
  // Joi writes its string() as a pattern of every name: generators know such a map by another word.
  if (anyName && Object.keys(otherNames).length === 0) {
    delete tidied['patternProperties'];
    tidied['additionalProperties'] = anyName;
  }
  const isFree = [tidied['type']].flat().includes('object') && !tidied['properties'] && !tidied['patternProperties'];
  if (isFree) tidied['additionalProperties'] ??= true;
  if (isSchema(tidied['items'])) tidied['items'] = inner(tidied['items']);
  return withNull(inDouble(withoutNumberEnum(unwrapped(tidied, inner))), direction);
}

/** Generators of Java make classes that do not compile of an enum of numbers: its bounds stand in the schema, its values in the description. */
function withoutNumberEnum(schema: JsonSchema): JsonSchema {
  const { enum: values, ...rest } = schema;
  const numbers = Array.isArray(values) ? values.filter((value) => typeof value === 'number') : [];
  if (numbers.length === 0) return schema;
  return { ...rest, minimum: Math.min(...numbers), maximum: Math.max(...numbers) };
}

/** Generators of Go take a number without a format for one of single precision: money above 100,000 loses its cents. */
function inDouble(schema: JsonSchema): JsonSchema {
  return [schema['type']].flat().includes('number') ? { ...schema, format: 'double' } : schema;
}

/** An `anyOf` that only says "may also be null" or "may also be empty" is one schema. */
function unwrapped(schema: JsonSchema, inner: (part: JsonSchema) => JsonSchema): JsonSchema {
  const { anyOf, ...around } = schema as { anyOf?: JsonSchema[] };
  if (!anyOf) return schema;
  const takesNull = anyOf.some(({ type }) => type === 'null');
  const takesEmpty = anyOf.some((member) => isOnlyEmptyText(member));
  const rest = anyOf.filter((member) => member['type'] !== 'null' && !isOnlyEmptyText(member)).map(inner);
  const [only] = rest;
  const [type, ...more] = [only?.['type']].flat().filter((one) => one !== 'null');
  if (rest.length !== 1 || !only || typeof type !== 'string' || more.length > 0)
    return { ...around, anyOf: anyOf.map(inner) };
  const merged = takesEmpty ? orEmpty(only) : only;
  return { ...around, ...merged, ...(takesNull ? { type: [type, 'null'] } : {}) };
}

/** A pattern can take the empty text as well, a format cannot. */
const PATTERN_OF_FORMAT: Record<string, string> = { email: '^[^@]+@[^@]+\\.[^@]+$' };

function orEmpty({ minLength, format, pattern, ...text }: JsonSchema): JsonSchema {
  const form = format === undefined ? pattern : PATTERN_OF_FORMAT[String(format)];
  if (format !== undefined && form === undefined)
    throw new Error(`no pattern is known for the format ${String(format)}`);
  const least = minLength === undefined || minLength === 1 ? {} : { minLength };
  if (typeof form !== 'string') return { ...text, ...least };
  return { ...text, ...least, pattern: new RegExp(form, 'u').test('') ? form : `^$|${form}` };
}

function isOnlyEmptyText(schema: JsonSchema): boolean {
  return Array.isArray(schema['enum']) && schema['enum'].length === 1 && schema['enum'][0] === '';
}

/**
 * Joi names null in the type but forgets it in the list of values. A list of what a caller may send goes without it: null only says what
 * leaving the field out says, and of a list with null generators make a union of two classes.
 */
function withNull(schema: JsonSchema, direction: Direction): JsonSchema {
  const { type, enum: values } = schema as { type?: unknown; enum?: unknown[] };
  if (!values || !Array.isArray(type) || !type.includes('null') || values.includes(null)) return schema;
  if (direction === 'output') return { ...schema, enum: [...values, null] };
  const [only] = type.filter((one) => one !== 'null');
  return { ...schema, type: only };
}

function annotate(schema: JsonSchema, description: Description, register?: Register): JsonSchema {
  const { keys, items, examples } = description;
  const properties = schema['properties'] as Record<string, JsonSchema> | undefined;
  const [item] = items ?? [];
  const inner = (value: JsonSchema, of: Description) => named(annotate(value, of, register), of, register);
  return {
    ...schema,
    ...withRequired(schema, keys),
    ...(properties && keys
      ? { properties: mapValues(properties, (value, name) => inner(value, keys[name] ?? {})) }
      : {}),
    ...(isSchema(schema['items']) && item ? { items: inner(schema['items'], item) } : {}),
    ...(examples ? { examples } : {}),
  };
}

/**
 * Lists fields as required that were so when they were published. Generators make parameters of a constructor of the
 * required fields, so a list that becomes shorter breaks programs that call it.
 */
function withRequired(schema: JsonSchema, keys: Record<string, Description> = {}): JsonSchema {
  const listed = (schema['required'] ?? []) as string[];
  const isListed = (name: string) => listed.includes(name) || keys[name]?.metas?.some(({ isRequired }) => isRequired);
  const required = Object.keys(keys).filter(isListed).toSorted();
  return required.length > listed.length ? { required } : {};
}

/** A shape with a name as a reference to it; what may also be null says so beside the reference. */
function named(schema: JsonSchema, shape: Description, register?: Register): JsonSchema {
  const name = shape.metas?.find((meta) => meta.schema)?.schema;
  if (!register || name === undefined) return schema;
  const { description, type, ...rest } = schema;
  const isNullable = Array.isArray(type) && type.includes('null');
  const [only] = Array.isArray(type) ? type.filter((one) => one !== 'null') : [type];
  const reference = register(name, { type: only, ...rest });
  return {
    ...(isNullable ? { anyOf: [reference, { type: 'null' }] } : reference),
    ...(description === undefined ? {} : { description }),
  };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From, name: string) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}
