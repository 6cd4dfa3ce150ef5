// A number as callers send it, without the noise of their floating point.
import Joi from 'joi';
import { withoutNoise } from '#libs/rules/money/money.ts';

/** A JSON number; 0.1 + 0.2 is read as 0.3, as line items are. Bounds hold for what is read. */
export const number = () => Joi.number().custom((value: number) => withoutNoise(value));
