// Input of the list of deliveries and of the signature doctor. That of endpoints is libs/webhooks/endpoint-input.ts.
import Joi from 'joi';
import { uuid } from '#libs/input/kinds.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '#libs/models/webhooks/delivery.ts';
import { type PageQuery, pageQuery } from '../http/page.ts';

/** Characters. The event of an invoice of 256 KiB has a somewhat longer body. */
const BODY_LONGEST = 400_000;
/** The body takes more inside JSON: each of its quotes is two characters. */
export const RECEIVED_CALL_BYTES_MAX = 1024 * 1024;

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
