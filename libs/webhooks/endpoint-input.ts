// The input of operations on webhook endpoints.
import Joi from 'joi';
import { instant, line } from '../input/kinds.ts';
import { isEventFilter } from '../models/webhooks/event-filter.ts';
import { endpointUrl } from './endpoint-url.ts';

const FILTERS_MAX = 50;

export interface NewWebhook {
  url: string;
  events: string[];
  description?: string | null;
  enabled: boolean;
}

export type WebhookChanges = Partial<NewWebhook>;

const filter = Joi.string().custom((value: string, { error }) =>
  isEventFilter(value) ? value : error('event.unknown'),
);
const fields = {
  url: endpointUrl().description('Where events are sent: https on a public address, or what the operator allows'),
  events: Joi.array()
    .items(filter.messages({ 'event.unknown': '{{#label}} is no event type, no `noun.*` and not `*`' }))
    .min(1)
    .max(FILTERS_MAX)
    .unique()
    .description('Event types, `noun.*` for all of a noun, or `*`'),
  description: line().allow(null, '').description('A note for people'),
  enabled: Joi.boolean().description(
    'Nothing is sent to a disabled endpoint: deliveries that wait are held, and what happens meanwhile makes none (replay since then, `only` what is `undelivered`)',
  ),
};

export const newWebhook = Joi.object<NewWebhook, true>({
  ...fields,
  url: fields.url.required(),
  events: fields.events.default(['*']),
  enabled: fields.enabled.default(true),
}).example({ url: 'https://example.com/hooks/billing', events: ['client.created', 'invoice.*'] });

export const webhookChanges = Joi.object<WebhookChanges, true>(fields).example({ enabled: false });

export interface Since {
  since: Date;
  only: 'all' | 'undelivered';
}

export const since = Joi.object<Since>({
  since: instant().required().description('Events that happened at this moment or later are sent again'),
  only: Joi.string()
    .valid('all', 'undelivered')
    .default('all')
    .description(
      '`undelivered`: leave out what the endpoint has already taken. Deliveries are kept for 90 days, so of older events only those that are known not to have arrived are sent',
    ),
}).example({ since: '2026-11-02T00:00:00Z', only: 'undelivered' });
