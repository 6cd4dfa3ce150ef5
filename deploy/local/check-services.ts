// Reads the environment as each service will, so that a wrong variable is reported before anything starts.
import type Joi from 'joi';
import { ConfigError } from '#libs/service/config-error.ts';
import { readEnv } from '#libs/service/env.ts';
import { configShape as gateway } from '../../services/gateway/config.ts';
import { configShape as mail } from '../../services/mail/config.ts';
import { configShape as operations } from '../../services/operations/config.ts';
import { configShape as portal } from '../../services/portal/config.ts';
import { configShape as renderer } from '../../services/renderer/config.ts';
import { configShape as scheduler } from '../../services/scheduler/config.ts';
import { configShape as webhooks } from '../../services/webhooks/config.ts';
import { type Chosen, environments, type ServiceName } from './service-env.ts';

const shapes: Record<ServiceName, Joi.ObjectSchema> = {
  gateway,
  mail,
  operations,
  portal,
  renderer,
  scheduler,
  webhooks,
};

// The placeholders for values that exist only after the start.
const MADE_LATER = {
  mongodbUri: 'mongodb://127.0.0.1/',
  redisUrl: 'redis://127.0.0.1/',
  secretKey: Buffer.alloc(32).toString('base64'),
  chromiumPath: 'chromium',
};

export function findServiceProblems(
  config: Chosen & { port: number; operationsPort: number; portalPort: number; env: NodeJS.ProcessEnv },
): string[] {
  const { env, port, operationsPort, portalPort } = config;
  const envOf = environments({ ...MADE_LATER, env, config, port, operationsPort, portalPort });
  return Object.entries(shapes).flatMap(([service, shape]) => {
    try {
      readEnv(envOf[service as ServiceName], shape);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return [...error.problems];
      throw error;
    }
  });
}
