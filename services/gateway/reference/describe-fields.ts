// Adds the descriptions of the table to properties that have none of their own.

import type { JsonSchema } from '#libs/responses/json-schema.ts';
import { FIELD_DESCRIPTIONS } from './field-descriptions.ts';

/** @param path the name of the schema, and of the field that holds an inline one: `Account.number_formats`. */
export function describeFields(schema: JsonSchema, path: string): JsonSchema {
  const inner = (value: unknown) => (isObject(value) ? describeFields(value, path) : value);
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, JsonSchema>;
    items?: unknown;
    anyOf?: unknown[];
  };
  return {
    ...schema,
    ...(properties ? { properties: described(properties, path) } : {}),
    ...(items ? { items: inner(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(inner) } : {}),
  };
}

function described(properties: Record<string, JsonSchema>, path: string): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const description = FIELD_DESCRIPTIONS[`${path}.${name}`] ?? FIELD_DESCRIPTIONS[name];
      const own = describeFields(schema, `${path}.${name}`);
      return [name, own['description'] === undefined && description !== undefined ? { ...own, description } : own];
    }),
  );
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
