// The table of fields of a body or a response.
import { html, type Markup, markdown } from './html.ts';
import type { JsonSchema } from './json-schema.ts';

/** Gives what a `$ref` names. */
export type Resolve = <Value>(value: Value) => Value;

/** A table of the fields of an object, with the fields of what it holds indented below. */
export function fieldsTable(schema: JsonSchema, resolve: Resolve): Markup {
  return html`<table>${rows(schema, '')}</table>`;

  function rows(given: JsonSchema, prefix: string): Markup[] {
    const { properties = {}, required = [] } = resolve(given) as {
      properties?: Record<string, JsonSchema>;
      required?: string[];
    };
    return Object.entries(properties).flatMap(([name, unresolved]) => {
      const value = withoutUnion(resolve(unresolved));
      const items = value['items'] as JsonSchema | undefined;
      const row = html`<tr><th><code><i>${prefix}</i>${name}</code>${required.includes(name) && html` <em>required</em>`}</th>
<td>${typeOf(value, items && resolve(items))}</td><td>${markdown(String(value['description'] ?? ''))}</td></tr>`;
      return [row, ...rows(value, `${prefix}${name}.`), ...(items ? rows(items, `${prefix}${name}[].`) : [])];
    });
  }

  /** A reference beside null as one schema that may be null. */
  function withoutUnion(schema: JsonSchema): JsonSchema {
    const { anyOf = [], ...around } = schema as { anyOf?: JsonSchema[] };
    const [only, ...others] = anyOf.map((member) => resolve(member)).filter(({ type }) => type !== 'null');
    if (!only || others.length > 0) return schema;
    return { ...only, ...around, type: [only['type'], 'null'].flat() };
  }
}

export function typeOf(schema: JsonSchema, items?: JsonSchema): string {
  const { type, format, enum: values, default: standard, minimum, maximum, maxLength, exclusiveMinimum } = schema;
  const { maxItems, const: constant, anyOf } = schema;
  const alternatives = (anyOf as JsonSchema[] | undefined)?.flatMap((member) => member['type'] ?? []);
  const kinds = [type ?? alternatives ?? 'any'].flat();
  const facts = [
    kinds.map((kind) => (kind === 'array' && items ? `array of ${typeOf(items)}` : kind)).join(' or '),
    format,
    constant !== undefined && JSON.stringify(constant),
    Array.isArray(values) &&
      (values.length > 12 ? `one of ${values.length}` : values.map((v) => JSON.stringify(v)).join(' | ')),
    exclusiveMinimum !== undefined && `> ${exclusiveMinimum}`,
    minimum !== undefined && `≥ ${minimum}`,
    maximum !== undefined && `≤ ${maximum}`,
    maxLength !== undefined && `≤ ${maxLength} characters`,
    maxItems !== undefined && `≤ ${maxItems} elements`,
    standard !== undefined && `default ${JSON.stringify(standard)}`,
  ];
  return facts.filter(Boolean).join(', ');
}
