// Response shape of an account's Stripe settings. It has no secret.
import Joi from 'joi';
import { exampleTime, orNull, timestamp } from '#libs/responses/response-fields.ts';

export const stripeResponse = Joi.object({
  mode: Joi.string().valid('test', 'live').required().description('The mode of the key'),
  hook_url: orNull(Joi.string()).description(
    'The address for the webhook at Stripe; null while the portal has no `PORTAL_URL`',
  ),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('StripeSettings')
  .example({
    mode: 'test',
    hook_url: 'https://pay.example.com/hooks/stripe/019a1f00-0000-7000-8000-000000005712',
    created_at: exampleTime,
    updated_at: exampleTime,
  });
