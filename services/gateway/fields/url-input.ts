// URLs that callers give. All have the form of libs/outbound/url-form.ts; whether one may be called is for libs/outbound to decide.
import Joi from 'joi';
import { refuse } from '#libs/input/joi-problems.ts';
import { isDataUri, isWebUrl, URL_LONGEST } from '#libs/outbound/url-form.ts';

/** An absolute http or https URL of at most 2,048 characters, stored as it was sent. */
export const webUrl = () =>
  Joi.string()
    .max(URL_LONGEST)
    .custom((url: string, helpers) =>
      isWebUrl(url) ? url : refuse(helpers, 'invalid_url', '{{#label}} must be an http(s) URL'),
    );

/** The same, or an image in a base64 data URI. @param longest characters of either. */
export const imageUrl = (longest: number) =>
  Joi.string()
    .max(longest)
    .custom((source: string, helpers) =>
      isDataUri(source, 'image') || isWebUrl(source)
        ? source
        : refuse(helpers, 'invalid_image', '{{#label}} must be an http(s) URL or a base64 data URI of an image'),
    );
