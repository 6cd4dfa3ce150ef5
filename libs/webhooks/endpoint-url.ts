// The URL of an endpoint: its form, and whether it leads to a public address.
import Joi from 'joi';
import { validationFailed } from '../errors.ts';
import { refuse } from '../input/joi-problems.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { OutboundRefused, parseTarget } from '../outbound/target-rules.ts';
import { isWebUrl, URL_LONGEST } from '../outbound/url-form.ts';

/** A URL whose form is right. vetEndpointUrl decides if it may be called. */
export const endpointUrl = () =>
  Joi.string()
    .max(URL_LONGEST)
    .messages({ 'string.max': `url must be at most ${URL_LONGEST} characters (length)` })
    .custom((text: string, helpers) => {
      // `max` names a text that is too long.
      const rejected = text.length > URL_LONGEST ? undefined : rejectionOfForm(text);
      return rejected ? refuse(helpers, 'url_rejected', `{{#label}} ${rejected.text}`, rejected.params) : text;
    });

/**
 * Checks the URL of an endpoint, which must be https on the usual ports, except on addresses that the operator allows.
 * @returns the URL in its canonical form.
 * @throws AppError 400 with the class of the reason in brackets.
 */
export async function vetEndpointUrl(text: string, outbound: Outbound): Promise<string> {
  const rejected = rejectionOfForm(text);
  if (rejected) throw rejectedUrl(rejected);
  try {
    return (await outbound.vet(text, { protocols: ['https:'] })).url.href;
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    // A name may be registered before it exists, because each delivery resolves it again.
    if (error.reason === 'dns') return outbound.check(text, { protocols: ['https:'] }).url.href;
    throw rejectedUrl(rejectionOf(error));
  }
}

interface Rejection {
  text: string;
  params: { reason: string };
}

function rejectionOfForm(text: string): Rejection | undefined {
  try {
    parseTarget(text);
    return isWebUrl(text) ? undefined : rejectionOf(new OutboundRefused('malformed'));
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error;
    return rejectionOf(error);
  }
}

function rejectionOf({ reason, message }: OutboundRefused): Rejection {
  const text = reason === 'scheme' ? 'must use https' : message;
  return { text: `${text} (${reason})`, params: { reason } };
}

function rejectedUrl({ text, params }: Rejection) {
  return validationFailed([{ path: ['url'], code: 'url_rejected', message: `url ${text}`, params }]);
}
