// The variables of the renderer.
import { accessSync, constants } from 'node:fs';
import Joi from 'joi';
import { ConfigError } from '#libs/service/config-error.ts';
import { readEnv, type ServiceConfig, serviceVariables, variables } from '#libs/service/env.ts';

export interface RendererConfig extends ServiceConfig {
  CHROMIUM_PATH: string;
  OUTBOUND_ALLOW: string;
  RENDER_CONCURRENCY: number;
  RECYCLE_PRINTS: number;
  RECYCLE_MINUTES: number;
  RECYCLE_MEGABYTES: number;
  PAGE_MEGABYTES: number;
}

export const configShape = Joi.object<RendererConfig, true>({
  ...serviceVariables,
  CHROMIUM_PATH: Joi.string()
    .required()
    .description(
      'Program that prints: a headless shell, which is four times as fast as a whole Chromium, or a Chromium',
    ),
  OUTBOUND_ALLOW: variables.OUTBOUND_ALLOW,
  // One page keeps one core busy. One document more than pages means that no page waits for Redis.
  RENDER_CONCURRENCY: Joi.number()
    .integer()
    .min(1)
    .max(32)
    .default(3)
    .description(
      'Documents printed at the same time, on one page fewer (but at least one): one is on its way while the others print',
    ),
  RECYCLE_PRINTS: Joi.number()
    .integer()
    .min(1)
    .default(5_000)
    .description('Chromium is replaced after this many documents'),
  RECYCLE_MINUTES: Joi.number().min(1).default(60).description('Chromium is replaced at this age'),
  RECYCLE_MEGABYTES: Joi.number()
    .integer()
    .min(100)
    .default(700)
    .description('Chromium is replaced when all its processes together hold this much memory'),
  PAGE_MEGABYTES: Joi.number()
    .integer()
    .min(100)
    .default(320)
    .description('A document whose page holds more memory than this while it is printed is rejected'),
});

export function readConfig(env: NodeJS.ProcessEnv): Readonly<RendererConfig> {
  const config = readEnv(env, configShape);
  try {
    // The system looks up a name without a folder.
    if (config.CHROMIUM_PATH.includes('/')) accessSync(config.CHROMIUM_PATH, constants.X_OK);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code;
    throw new ConfigError([`CHROMIUM_PATH names ${config.CHROMIUM_PATH}, which cannot be run (${why})`]);
  }
  return config;
}
