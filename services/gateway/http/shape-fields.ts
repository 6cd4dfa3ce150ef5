// Reads the fields of a joi shape. joi's `describe()` does so too, but it validates each description it makes, which was half of a gateway's start time.
import type Joi from 'joi';

interface Key {
  key: string;
  schema: Joi.Schema;
}

/** @returns the fields of an object by name, in its order; none of a shape that lists none. */
export function fieldsOf(shape: Joi.Schema | undefined): ReadonlyMap<string, Joi.Schema> {
  const keys = (shape?.$_terms['keys'] ?? []) as Key[];
  return new Map(keys.map(({ key, schema }) => [key, schema]));
}

/** @returns the items of a list, one shape for each kind that it may hold. */
export function itemsOf(shape: Joi.Schema): readonly Joi.Schema[] {
  return (shape.$_terms['items'] ?? []) as Joi.Schema[];
}

/** True of an object that allows the names it lists, and no other. */
export function isClosed(shape: Joi.Schema): boolean {
  return Boolean(shape.$_terms['keys']) && !shape.$_terms['patterns'] && !shape.$_getFlag('unknown');
}
