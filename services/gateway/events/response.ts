// Response shapes of events.
import Joi from 'joi';
import { exampleId } from '#libs/responses/example-ids.ts';
import { exampleClient, exampleTime, id, timestamp, words } from '#libs/responses/response-fields.ts';

export const eventResponse = Joi.object({
  id: id().description('The same as the `webhook-id` header of its deliveries'),
  sequence: Joi.number().integer().min(1).required().description('Its place in the order of the account, without gaps'),
  type: words(),
  timestamp: timestamp(),
  data: Joi.object().unknown().required().description('The record as the API returned it when the event happened'),
})
  .id('Event')
  .example({
    id: exampleId.events,
    sequence: 42,
    type: 'client.created',
    timestamp: exampleTime,
    data: { ...exampleClient, status: 'invited', created_at: exampleTime, updated_at: exampleTime },
  });

export const eventReplayResponse = Joi.object({ deliveries: Joi.number().integer().required() })
  .id('EventReplay')
  .example({ deliveries: 2 });

export const eventTypeResponse = Joi.object({
  type: words(),
  description: words(),
  example: Joi.object().unknown().required().description('A body as webhooks carry it'),
  schema: Joi.object().unknown().required().description('JSON Schema of the body'),
})
  .id('EventType')
  .example({
    type: 'client.created',
    description: 'A client was created.',
    example: { type: 'client.created', timestamp: exampleTime, data: exampleClient },
    schema: { type: 'object' },
  });
