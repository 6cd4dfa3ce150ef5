// Makes the schema by which Helm refuses values that the chart does not know, from the defaults in values.yaml.

interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  minimum?: number;
}

/** Maps whose names are not the chart's. An empty default is one of them, too. */
const OPEN = ['annotations', 'requests', 'limits'];

const SCALAR: Schema = { type: ['string', 'number', 'boolean'] };

/** Returns the schema of a value: its type, and for a map its names. */
export function schemaOf(value: unknown, name = ''): Schema {
  if (Array.isArray(value)) return { type: 'array' };
  if (typeof value !== 'object' || value === null) return schemaOfScalar(value);
  if (name === 'config') return { type: 'object', additionalProperties: SCALAR };
  const entries = Object.entries(value);
  if (entries.length === 0 || OPEN.includes(name)) return { type: 'object' };
  const properties = Object.fromEntries(entries.map(([key, one]) => [key, schemaOf(one, key)]));
  return { type: 'object', properties, additionalProperties: false };
}

function schemaOfScalar(value: unknown): Schema {
  return typeof value === 'number' ? { type: 'integer', minimum: 0 } : { type: typeof value };
}
