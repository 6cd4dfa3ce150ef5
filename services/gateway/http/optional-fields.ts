// One rule for null in bodies: a field that need not be given is absent when it is null, and a change to null takes it back.
import type Joi from 'joi';
import type { Route } from './route.ts';
import { fieldsOf } from './shape-fields.ts';

type Fields = ReturnType<typeof fieldsOf>;

/** An optional field that is null counts as not given; its default applies. */
export function withNulls<Body>(shape: Joi.ObjectSchema<Body>): Joi.ObjectSchema<Body> {
  return withChanged(shape, optionalNames(fieldsOf(shape)), (field) => {
    const nullable = field.allow(null);
    return field.$_getFlag('empty') === undefined ? nullable.empty(null) : nullable;
  });
}

/**
 * The rows with that rule in their bodies. What a change may take back, what it cannot change at all and the defaults it falls back to are
 * read from the body of the operation that creates such a record, so that no list of fields is kept by hand.
 */
export function withOptionalFields(routes: readonly Route[]): readonly Route[] {
  return routes.map((row) => {
    if (!row.body) return row;
    if (row.method === 'post') return { ...row, body: withNulls(row.body) };
    const create = routes.find(({ method, path }) => method === 'post' && `${path}/{id}` === row.path);
    return row.method === 'patch' && create?.body ? { ...row, ...changeOf(row.body, create.body) } : row;
  });
}

function changeOf(change: Joi.ObjectSchema, create: Joi.ObjectSchema): Pick<Route, 'body' | 'immutable' | 'defaults'> {
  const [changed, created] = [fieldsOf(change), fieldsOf(create)];
  const names = optionalNames(created).filter((name) => changed.has(name));
  const defaults = names.flatMap((name) => {
    const value: unknown = created.get(name)?.$_getFlag('default');
    return value === undefined || typeof value === 'function' ? [] : [[name, value] as const];
  });
  return {
    body: withChanged(change, names, (field) => field.allow(null)),
    immutable: [...created.keys()].filter((name) => !changed.has(name)),
    defaults: Object.fromEntries(defaults),
  };
}

/** Joi's own `fork` walks the whole shape for each name, which was a tenth of a gateway's start. All keys are given again, so that their order stays. */
function withChanged<Shape extends Joi.ObjectSchema>(
  shape: Shape,
  names: readonly string[],
  change: (field: Joi.Schema) => Joi.Schema,
): Shape {
  const fields = [...fieldsOf(shape)].map(([name, field]) => [name, names.includes(name) ? change(field) : field]);
  return names.length > 0 ? (shape.keys(Object.fromEntries(fields)) as Shape) : shape;
}

/** Returns the names of all fields but the required ones: a required field is never null. */
function optionalNames(fields: Fields): string[] {
  const isRequired = (field: Joi.Schema) =>
    field.$_getFlag('presence') === 'required' || field.$_terms['metas']?.some((meta: object) => 'isRequired' in meta);
  return [...fields].filter(([, field]) => !isRequired(field)).map(([name]) => name);
}
