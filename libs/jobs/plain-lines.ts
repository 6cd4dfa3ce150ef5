// Lets a line of a document pass by a look when its shape would pass it as it is: joi takes 8 µs for each, and there are hundreds.
import Joi from 'joi';

/** True only for what the field's shape passes unchanged. */
type IsPlain = (value: unknown) => boolean;

/**
 * @param shape judges every line that is not plain. None of its fields is required or has a default.
 * @param fields of the shape; one that is not named here is never plain.
 */
export function unlessPlain<Line>(shape: Joi.ObjectSchema<Line>, fields: Record<string, IsPlain>): Joi.Schema<Line> {
  const looks = new Map(Object.entries(fields));
  const isPlain = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(([name, field]) => looks.get(name)?.(field) === true);

  const extended: Joi.Root & { line: () => Joi.Schema<Line> } = Joi.extend((joi) => ({
    type: 'line',
    base: joi.any(),
    validate: (value: unknown, { state, prefs }: Joi.CustomHelpers) =>
      isPlain(value) ? { value } : shape.$_validate(value, state, prefs),
    jsonSchema: (_schema: unknown, _result: object, direction: 'input' | 'output') =>
      shape['~standard'].jsonSchema[direction]({ target: 'draft-2020-12' }),
  }));
  return extended.line();
}
