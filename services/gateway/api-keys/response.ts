// Response shapes of API keys.
import Joi from 'joi';
import { exampleId } from '#libs/responses/example-ids.ts';
import { exampleTime, id, orNull, timestamp, words } from '#libs/responses/response-fields.ts';

const fields = {
  id: id(),
  name: words(),
  start: words().description('The first characters, to recognise it by'),
  scopes: Joi.array().items(Joi.string()).required(),
  expires_at: orNull(Joi.string().isoDate()),
  last_used_at: orNull(Joi.string().isoDate()),
  revoked_at: orNull(Joi.string().isoDate()),
  created_at: timestamp(),
};

const example = {
  id: exampleId.keys,
  name: 'Website',
  start: 'bh_live_4pQk',
  scopes: ['clients:write', 'invoices:read'],
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  created_at: exampleTime,
};

export const apiKeyResponse = Joi.object(fields).id('ApiKey').example(example);

export const apiKeyWithSecretResponse = Joi.object({
  ...fields,
  key: orNull(Joi.string()).description('Shown this once; null when an Idempotency-Key replays the response'),
})
  .id('ApiKeyWithSecret')
  .example({ ...example, key: 'bh_live_…' });
