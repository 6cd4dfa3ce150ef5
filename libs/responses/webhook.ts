// Response shapes of webhook endpoints, deliveries and the doctor's findings.
import Joi from 'joi';
import { DELIVERY_STATUSES } from '../models/webhooks/delivery.ts';
import { DISABLED_REASONS } from '../models/webhooks/webhook-endpoint.ts';
import { exampleId } from './example-ids.ts';
import { exampleTime, id, orNull, timestamp, words } from './response-fields.ts';

const exampleWebhook = {
  id: exampleId.webhooks,
  url: 'https://example.com/hooks/billing',
  events: ['client.created', 'invoice.*'],
  description: null,
  enabled: true,
  disabled_reason: null,
  failing_since: null,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const webhookFields = {
  id: id(),
  url: words(),
  events: Joi.array().items(Joi.string()).required(),
  description: Joi.string().allow(null).required(),
  enabled: Joi.boolean().required(),
  disabled_reason: Joi.string()
    .valid(...DISABLED_REASONS, null)
    .required()
    .description(
      '`gone`: the receiver responded with 410. `failing`: nothing but failures for five days. `operator`: an operator of this installation disabled it',
    ),
  failing_since: Joi.string().isoDate().allow(null).required().description('Since when every attempt has failed'),
  created_at: timestamp(),
  updated_at: timestamp(),
};

export const webhookResponse = Joi.object(webhookFields).id('Webhook').example(exampleWebhook);

export const webhookWithSecretResponse = Joi.object({
  ...webhookFields,
  secret: orNull(Joi.string()).description(
    'Shown this once, to verify deliveries with (Standard Webhooks); null when an Idempotency-Key replays the response',
  ),
})
  .id('WebhookWithSecret')
  .example({ ...exampleWebhook, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDpQ0a9E3Xk2c=' });

const exampleHead = [
  { name: 'content-type', value: 'text/html' },
  { name: 'retry-after', value: '30' },
];

export const deliveryResponse = Joi.object({
  id: id(),
  webhook_id: id(),
  event_id: id().description('The same as the `webhook-id` header of every attempt'),
  event_type: words(),
  status: Joi.string()
    .valid(...DELIVERY_STATUSES)
    .required()
    .description('`held`: the endpoint is disabled. `dead`: all attempts failed. Both can be replayed'),
  attempts: Joi.array()
    .items(
      Joi.object({
        at: timestamp(),
        duration_ms: Joi.number().integer().allow(null).required(),
        response_status: Joi.number().integer().allow(null).required(),
        error_class: Joi.string()
          .valid('unreachable', 'timeout', 'redirect', 'status', 'gone', 'endpoint_deleted', 'secret_unreadable', null)
          .required()
          .description(
            'null on success. `secret_unreadable`: no call was made, because the secret cannot be read any more: rotate it',
          ),
        response_headers: Joi.array()
          .items(
            Joi.object({
              name: words().description('In lower case'),
              value: words().description('`(masked)` where it may be a credential, such as a cookie'),
            }).meta({ schema: 'ResponseHeader' }),
          )
          .allow(null)
          .required()
          .description(
            'The head of the response, those that explain the outcome first: at most 20 headers and 1 KiB, longer values end with `…`. null without a response',
          ),
      }).meta({ schema: 'DeliveryAttempt' }),
    )
    .required()
    .description('The last 25, oldest first'),
  request_id: Joi.string().allow(null).required().description('`X-Request-Id` of the request that caused the event'),
  next_attempt_at: Joi.string().isoDate().allow(null).required(),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('Delivery')
  .example({
    id: exampleId.deliveries,
    webhook_id: exampleId.webhooks,
    event_id: exampleId.events,
    event_type: 'client.created',
    status: 'delivered',
    attempts: [
      { at: exampleTime, duration_ms: 812, response_status: 503, error_class: 'status', response_headers: exampleHead },
      {
        at: '2026-11-02T09:30:05.312Z',
        duration_ms: 95,
        response_status: 204,
        error_class: null,
        response_headers: [],
      },
    ],
    request_id: '5f0e6c1e-6f3e-4f0e-9d5e-0a4b8c7d6e5f',
    next_attempt_at: null,
    created_at: exampleTime,
    updated_at: '2026-11-02T09:30:05.410Z',
  });

export const testResponse = Joi.object({ event_id: id(), delivery_id: id() })
  .id('PingDelivery')
  .example({ event_id: exampleId.events, delivery_id: exampleId.deliveries });

export const replayResponse = Joi.object({
  deliveries: Joi.number().integer().required().description('How many are sent (again)'),
  next_since: Joi.string()
    .isoDate()
    .allow(null)
    .required()
    .description('Not null: there are more, ask again from here'),
})
  .id('Replay')
  .example({ deliveries: 12, next_since: null });

export const diagnosisResponse = Joi.object({
  valid: Joi.boolean().required().description('Whether the signature is right for the body'),
  findings: Joi.array()
    .items(
      Joi.object({
        check: Joi.string().valid('headers', 'timestamp', 'signature_form', 'event', 'body', 'secret').required(),
        ok: Joi.boolean().required(),
        message: words(),
      }).meta({ schema: 'SignatureFinding' }),
    )
    .required(),
})
  .id('SignatureDiagnosis')
  .example({
    valid: false,
    findings: [
      { check: 'headers', ok: true, message: 'All three headers are there.' },
      { check: 'body', ok: false, message: 'The body is not what was sent: they differ from byte 17 on.' },
    ],
  });

export const portalLinkResponse = Joi.object({
  id: id().description('The `request_id` of the events that the page causes'),
  url: orNull(Joi.string()).description('Shown this once; null when an Idempotency-Key replays the response'),
  expires_at: timestamp().description('An hour from now, or the end of the key'),
})
  .id('PortalLink')
  .example({
    id: exampleId.webhooks,
    url: 'https://portal.example.com/developer/open/kOq1mZ0sT2xL5vYbN8cR4uWfA7dGhJ3ePiQrStUvWxY',
    expires_at: '2026-11-02T10:30:00.000Z',
  });
