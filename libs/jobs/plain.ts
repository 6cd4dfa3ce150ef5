// Skips joi for values that its schema would accept unchanged: joi takes 8 µs per line of a document, and a document has hundreds.
import Joi from 'joi';

/** True only for values that the schema accepts unchanged. */
export type IsPlain = (value: unknown) => boolean;

/** @param shape validates every value that is not plain. @returns a schema of the same type with the methods of `Joi.any()`. */
export function unlessPlain<Shape extends Joi.Schema>(shape: Shape, isPlain: IsPlain): Shape {
  const extended: Joi.Root & { unlessPlain: () => Joi.Schema } = Joi.extend((joi) => ({
    type: 'unlessPlain',
    base: joi.any(),
    validate: (value: unknown, { state, prefs }: Joi.CustomHelpers) =>
      isPlain(value) ? { value } : shape.$_validate(value, state, prefs),
    jsonSchema: (_schema: unknown, _result: object, direction: 'input' | 'output') =>
      shape['~standard'].jsonSchema[direction]({ target: 'draft-2020-12' }),
  }));
  // `describe()` shows the shape as well.
  return extended.unlessPlain().meta({ shape }) as Shape;
}

/** @param fields of a shape without required fields and defaults; a field that is not named here is never plain. */
export function plainObject(fields: Record<string, IsPlain>): IsPlain {
  const checks = new Map(Object.entries(fields));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    for (const [name, field] of Object.entries(value)) {
      if (checks.get(name)?.(field) !== true) return false;
    }
    return true;
  };
}

export function plainList(isPlain: IsPlain, longest = Number.POSITIVE_INFINITY): IsPlain {
  return (value) => {
    if (!Array.isArray(value) || value.length > longest) return false;
    // Unlike `every`, this loop also visits the holes of an array.
    for (const item of value) if (!isPlain(item)) return false;
    return true;
  };
}
