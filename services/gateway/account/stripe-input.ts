// Input of an account's Stripe settings.
import Joi from 'joi';

export interface StripeBody {
  secret_key: string;
  signing_secret: string;
}

const KEY = /^(?:sk|rk)_(?:test|live)_[A-Za-z0-9_]{10,250}$/;
const SIGNING_SECRET = /^whsec_[A-Za-z0-9+/=_-]{10,250}$/;

export const stripeBody = Joi.object<StripeBody, true>({
  secret_key: Joi.string()
    .required()
    .pattern(KEY)
    .messages({ 'string.pattern.base': '{{#label}} must be a secret or restricted key of Stripe, such as rk_live_…' })
    .description('Kept encrypted and never shown. A restricted key needs to write Checkout Sessions only'),
  signing_secret: Joi.string()
    .required()
    .pattern(SIGNING_SECRET)
    .messages({ 'string.pattern.base': '{{#label}} must be the signing secret of a webhook of Stripe, whsec_…' })
    .description('Kept encrypted and never shown. Stripe shows it when the webhook is made'),
}).example({ secret_key: `rk_test_${'x'.repeat(24)}`, signing_secret: `whsec_${'x'.repeat(32)}` });
