// The look of a printed document as its caller chooses it.
import type Joi from 'joi';
import { looksShape } from '#libs/documents/looks-shape.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { languageTag } from '#libs/profile-forms.ts';

/** The parameters of every document. */
export const looks = { ...looksShape, locale: looksShape.locale.custom(localeInput) };

function localeInput(locale: string, helpers: Joi.CustomHelpers) {
  return languageTag(locale) ?? refuse(helpers, 'invalid_locale', '{{#label}} must be a language tag such as en-US');
}
