// Input of API keys.

import Joi from 'joi';
import { instant, name } from '#libs/input/kinds.ts';
import { ACCOUNT_MODES, type AccountMode } from '#libs/models/accounts/account.ts';
import { ApiKey, type ApiKeyRecord, apiKeyListing, SCOPES } from '#libs/models/accounts/api-key.ts';
import { listOf } from '../http/list.ts';

export interface NewKey {
  name: string;
  scopes: string[];
  expires_at?: Date | null;
  mode?: AccountMode;
}

export interface Rotation {
  /** How long the old key still works. */
  overlap_seconds: number;
}

const NAME_LONGEST = 200;
const OVERLAP_MAX_SECONDS = 7 * 24 * 3600;

export const newKey = Joi.object<NewKey, true>({
  name: name().max(NAME_LONGEST).required(),
  scopes: Joi.array()
    .items(Joi.string().valid('*', ...SCOPES))
    .min(1)
    .unique()
    .required()
    .description(
      'Each a scope the calling key has itself. Events contain whole records of every kind: a key with `events:read` or ' +
        '`webhooks:write` sees them all',
    ),
  expires_at: instant().allow(null).description('No later than the calling key expires itself'),
  mode: Joi.string()
    .valid(...ACCOUNT_MODES)
    .description("The account's own, for callers that want to be sure of it: another one is 400"),
}).example({ name: 'Website', scopes: ['clients:write', 'invoices:read'] });

export const rotation = Joi.object<Rotation, true>({
  overlap_seconds: Joi.number()
    .integer()
    .min(0)
    .max(OVERLAP_MAX_SECONDS)
    .default(0)
    .description('How long the old key still works'),
}).example({ overlap_seconds: 3600 });

export const apiKeyList = listOf<ApiKeyRecord>(ApiKey, apiKeyListing);
