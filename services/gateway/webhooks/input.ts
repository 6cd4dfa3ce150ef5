// Input of webhook endpoints and deliveries.
import Joi from 'joi';
import { instant, line, uuid } from '#libs/input/kinds.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '#libs/models/webhooks/delivery.ts';
import { isEventFilter } from '#libs/models/webhooks/event-filter.ts';
import { URL_LONGEST } from '#libs/outbound/url-form.ts';
import { type PageQuery, pageQuery } from '../http/page.ts';

const FILTERS_MAX = 50;
/** Characters. The event of an invoice of 256 KiB has a somewhat longer body. */
const BODY_LONGEST = 400_000;
/** The body takes more inside JSON: each of its quotes is two characters. */
export const RECEIVED_CALL_BYTES_MAX = 1024 * 1024;

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
  url: Joi.string()
    .max(URL_LONGEST)
    .messages({ 'string.max': `url must be at most ${URL_LONGEST} characters (length)` })
    .description('Where events are sent: https on a public address, or what the operator allows'),
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

export interface DeliveryQuery extends PageQuery {
  status?: DeliveryStatus;
}

export const deliveryQuery = Joi.object<DeliveryQuery>({
  ...pageQuery,
  status: Joi.string()
    .valid(...DELIVERY_STATUSES)
    .description('Only deliveries in this state'),
});

export interface ReceivedCall {
  headers: Record<string, string>;
  body: string;
  webhook_id?: string;
}

export const receivedCall = Joi.object<ReceivedCall, true>({
  headers: Joi.object()
    .pattern(Joi.string().max(200), Joi.string().allow('').max(5_000))
    .max(100)
    .required()
    .description('The headers as they arrived'),
  body: Joi.string().allow('').max(BODY_LONGEST).required().description('The raw body as it arrived, byte for byte'),
  webhook_id: uuid().description('The endpoint it arrived at; all endpoints of the account are tried without it'),
}).example({
  headers: {
    'webhook-id': '019a1f00-0000-7000-8000-00000000e4e0',
    'webhook-timestamp': '1793611800',
    'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
  body: '{"type":"client.created","timestamp":"2026-11-02T09:30:00.000Z","data":{}}',
});
