// Hours as callers send them: a JSON number, or a text in one of the forms that time trackers write.
import Joi from 'joi';
import { withoutNoise } from '#libs/rules/money/money.ts';
import { type GivenHours, givenHours } from '#libs/rules/time/given-hours.ts';

/** The sentence about texts in the descriptions of hours. */
export const HOURS_FORMS = 'Also as a text: `1:30`, `90m`, `1h 30m`';

const extended: { hours(): Joi.NumberSchema } = Joi.extend((joi) => ({
  type: 'hours',
  base: joi.number(),
  messages: { 'hours.written': '{{#label}} must be a number, or a text such as "1:30", "90m" or "1h 30m"' },
  prepare: (value: unknown, { error }: Joi.CustomHelpers) => {
    if (typeof value !== 'string') return undefined;
    const written = givenHours(value);
    return written ? { value: written.hours } : { value, errors: error('hours.written') };
  },
  // The type of a number alone, as in decimal-input.ts.
  jsonSchema: (_schema: unknown, result: object) => ({ ...result, type: 'number', 'x-hours-text': true }),
}));

/** Read as a number, without the noise of floating point. Bounds hold for what is read. */
export function hours() {
  // joi prepares a text only with `convert`.
  return extended
    .hours()
    .prefs({ convert: true })
    .custom((value: number) => withoutNoise(value))
    .description(HOURS_FORMS);
}

/** Returns the shape of an hours() that also keeps how many decimals were sent. */
export function asGiven(shape: Joi.NumberSchema): Joi.ObjectSchema<GivenHours> {
  const read = (value: number, { original }: Joi.CustomHelpers) =>
    givenHours(original as number | string) ?? { hours: value };
  // Joi's types know no shape that reads another type than its base.
  return shape.custom(read) as unknown as Joi.ObjectSchema<GivenHours>;
}
