// The variables of every service, read from the shapes the services themselves are configured with.
import type Joi from 'joi';
import { configShape as gateway } from '../../../services/gateway/config.ts';
import { configShape as mail } from '../../../services/mail/config.ts';
import { configShape as operations } from '../../../services/operations/config.ts';
import { configShape as portal } from '../../../services/portal/config.ts';
import { configShape as renderer } from '../../../services/renderer/config.ts';
import { configShape as scheduler } from '../../../services/scheduler/config.ts';
import { configShape as webhooks } from '../../../services/webhooks/config.ts';

export interface Variable {
  name: string;
  isRequired: boolean;
  default: string | number | boolean | undefined;
  description: string;
  /** The accepted values, in words. Empty when any text is accepted. */
  accepts: string;
}

const shapes: Record<string, Joi.ObjectSchema> = {
  gateway,
  mail,
  operations,
  portal,
  renderer,
  scheduler,
  webhooks,
};

export const services = Object.keys(shapes);

export function variablesOf(service: string): Variable[] {
  const shape = shapes[service];
  if (!shape) throw new Error(`there is no service ${service}`);
  const keys = shape.describe()['keys'] as Record<string, Described>;
  return Object.entries(keys).map(([name, { type, flags = {}, rules = [], allow }]) => ({
    name,
    isRequired: flags.presence === 'required',
    default: flags.default,
    description: flags.description ?? '',
    accepts: acceptedBy(type, rules, flags.only ? allow : undefined),
  }));
}

/** @returns the names a service reads: each variable, and the same with _FILE. */
export function namesOf(service: string): string[] {
  return variablesOf(service).flatMap(({ name }) => [name, `${name}_FILE`]);
}

interface Described {
  type: string;
  flags?: { presence?: string; default?: string | number | boolean; description?: string; only?: boolean };
  rules?: { name: string; args?: { limit?: number; options?: { scheme?: string[] } } }[];
  allow?: unknown[];
}

function acceptedBy(type: string, rules: NonNullable<Described['rules']>, only?: unknown[]): string {
  if (only) return only.map(String).join(', ');
  const rule = (name: string) => rules.find((one) => one.name === name);
  const schemes = rule('uri')?.args?.options?.scheme;
  if (schemes) return schemes.map((scheme) => `${scheme}://`).join(' or ');
  if (type === 'boolean') return 'true or false';
  if (type !== 'number') return '';
  if (rule('port')) return '0 to 65535';
  const least = rule('min')?.args?.limit;
  const more = rule('greater')?.args?.limit;
  const most = rule('max')?.args?.limit;
  const from = least !== undefined ? `${least}` : more !== undefined ? `more than ${more}` : '';
  return most === undefined ? `${from} or more` : `${from} to ${most}`;
}
