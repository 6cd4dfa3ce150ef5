// The variables of the webhook service.
import Joi from 'joi';
import { type RecordsConfig, readEnv, recordsVariables, variables } from '#libs/service/env.ts';

export interface WebhooksConfig extends RecordsConfig {
  SECRET_KEY: string;
  OUTBOUND_ALLOW: string;
  DELIVERY_CONCURRENCY: number;
  WEBHOOK_TIMEOUT_MS: number;
  WEBHOOK_RETRY_SCALE: number;
}

export const configShape = Joi.object<WebhooksConfig, true>({
  ...recordsVariables,
  SECRET_KEY: variables.SECRET_KEY,
  OUTBOUND_ALLOW: variables.OUTBOUND_ALLOW,
  DELIVERY_CONCURRENCY: Joi.number()
    .integer()
    .min(1)
    .max(1_000)
    .default(300)
    .description(
      'First attempts that this process makes or records at once; late retries and replays get half as many slots of their own',
    ),
  WEBHOOK_TIMEOUT_MS: Joi.number()
    .integer()
    .min(100)
    .max(30_000)
    .default(15_000)
    .description('How long one attempt may take; Standard Webhooks recommends 15 to 30 s'),
  WEBHOOK_RETRY_SCALE: Joi.number()
    .greater(0)
    .max(10)
    .default(1)
    .description('Multiplies every wait between attempts; below 1 for tests and demonstrations'),
});

export function readConfig(env: NodeJS.ProcessEnv): Readonly<WebhooksConfig> {
  return readEnv(env, configShape);
}
