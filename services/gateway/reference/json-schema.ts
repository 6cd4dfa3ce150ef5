// Turns joi shapes into JSON Schema 2020-12, the dialect of OpenAPI 3.1: joi writes most of it, this adds what it loses.
import type Joi from 'joi';

export interface JsonSchema {
  [keyword: string]: unknown;
}

/** What `describe()` of joi says of a shape, as far as it is read here. */
interface Description {
  keys?: Record<string, Description>;
  items?: Description[];
  examples?: unknown[];
  dependencies?: Array<{ rel: string; peers: string[] }>;
  whens?: Array<{ ref: { path: string[] }; is: Condition; otherwise?: { flags?: { presence?: string } } }>;
}

interface Condition {
  type: string;
  rules?: Array<{ name: string; args?: { limit?: number } }>;
}

/** @param direction `input` is what a caller sends (defaults make a field optional), `output` is what it gets. */
export function jsonSchemaOf(shape: Joi.Schema, direction: 'input' | 'output'): JsonSchema {
  const written = shape['~standard'].jsonSchema[direction]({ target: 'draft-2020-12' }) as JsonSchema;
  return annotate(tidy(written), shape.describe() as Description);
}

export function exampleOf(shape: Joi.Schema | undefined): unknown {
  return (shape?.describe() as Description | undefined)?.examples?.[0];
}

function tidy(schema: JsonSchema): JsonSchema {
  const { additionalProperties, ...rest } = schema;
  // Unknown fields of a body are ignored and answers may grow: neither is closed.
  const tidied: JsonSchema = additionalProperties === false ? rest : schema;
  for (const keyword of ['properties', 'patternProperties'] as const) {
    const named = tidied[keyword] as Record<string, JsonSchema> | undefined;
    if (named) tidied[keyword] = mapValues(named, tidy);
  }
  const { '.*': anyName, ...otherNames } = (tidied['patternProperties'] ?? {}) as Record<string, JsonSchema>;
  // Joi writes its string() as every name, but holds no empty one to it.
  if (anyName) tidied['patternProperties'] = { ...otherNames, '.+': anyName };
  if (isSchema(tidied['items'])) tidied['items'] = tidy(tidied['items']);
  return withNull(unwrapped(tidied));
}

/** An `anyOf` that only says "may also be null" or "may also be empty" is one schema. */
function unwrapped(schema: JsonSchema): JsonSchema {
  const { anyOf, ...around } = schema as { anyOf?: JsonSchema[] };
  if (!anyOf) return schema;
  const takesNull = anyOf.some(({ type }) => type === 'null');
  const takesEmpty = anyOf.some((member) => isOnlyEmptyText(member));
  const rest = anyOf.filter((member) => member['type'] !== 'null' && !isOnlyEmptyText(member)).map(tidy);
  const [only] = rest;
  const isOne = rest.length === 1 && only && typeof only['type'] === 'string' && !(takesEmpty && refusesEmpty(only));
  if (!isOne) return { ...around, anyOf: anyOf.map(tidy) };
  const { minLength, ...lax } = only;
  const merged = takesEmpty && minLength === 1 ? lax : only;
  return { ...around, ...merged, ...(takesNull ? { type: [only['type'], 'null'] } : {}) };
}

function refusesEmpty({ format, pattern }: JsonSchema): boolean {
  return format !== undefined || (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(''));
}

function isOnlyEmptyText(schema: JsonSchema): boolean {
  return Array.isArray(schema['enum']) && schema['enum'].length === 1 && schema['enum'][0] === '';
}

/** Joi names null in the type but forgets it in the list of values. */
function withNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema as { type?: unknown; enum?: unknown[] };
  if (!values || !Array.isArray(type) || !type.includes('null') || values.includes(null)) return schema;
  return { ...schema, enum: [...values, null] };
}

function annotate(schema: JsonSchema, { keys, items, examples, dependencies }: Description): JsonSchema {
  const properties = schema['properties'] as Record<string, JsonSchema> | undefined;
  const [item] = items ?? [];
  const either = dependencies?.find(({ rel }) => rel === 'or');
  const conditions = Object.entries(keys ?? {}).flatMap(([name, key]) => requiredUnless(name, key));
  return {
    ...schema,
    ...(properties && keys
      ? { properties: mapValues(properties, (value, name) => annotate(value, keys[name] ?? {})) }
      : {}),
    ...(isSchema(schema['items']) && item ? { items: annotate(schema['items'], item) } : {}),
    ...(conditions.length > 0 ? { allOf: conditions } : {}),
    ...(either ? { anyOf: either.peers.map((peer) => ({ required: [peer] })) } : {}),
    ...(examples ? { examples } : {}),
  };
}

/** `when(other, { is, otherwise: required() })`: the field itself, or the other one in the form that makes it needless. */
function requiredUnless(name: string, { whens = [] }: Description): JsonSchema[] {
  return whens
    .filter(({ otherwise }) => otherwise?.flags?.presence === 'required')
    .map(({ ref, is }) => {
      const [other = ''] = ref.path;
      const least = is.rules?.find((rule) => rule.name === 'min')?.args?.limit;
      const form = is.type === 'array' ? { type: 'array', ...(least ? { minItems: least } : {}) } : {};
      return { anyOf: [{ required: [name] }, { required: [other], properties: { [other]: form } }] };
    });
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From, name: string) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}
