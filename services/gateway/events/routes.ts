// Events over HTTP: the feed, one event, sending it again, and the catalogue of types.
import Joi from 'joi';
import { appError } from '#libs/errors.ts';
import { Counter } from '#libs/models/counter.ts';
import type { Id } from '#libs/models/tenant.ts';
import { Event, type EventRecord } from '#libs/models/webhooks/event.ts';
import { isSubscribed } from '#libs/models/webhooks/event-filter.ts';
import { EVENT_TYPES } from '#libs/models/webhooks/event-types.ts';
import { replayEvents } from '#libs/models/webhooks/replay-deliveries.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { readAfterElection } from '#libs/mongo/read-after-election.ts';
import { pageQuery } from '../http/page.ts';
import { found, type JsonResponse, updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { eventReplayResponse, eventResponse, eventTypeResponse } from './response.ts';
import { countFeed, eventView, type FeedPage, readFeed } from './store/event-feed.ts';

const path = '/api/v1/events';
const missing = 'Event not found or access denied';

const feedQuery = Joi.object<FeedPage>({
  after: pageQuery.offset.description('The `sequence` of the last event you have; 0 or absent for all'),
  limit: pageQuery.limit,
  offset: pageQuery.offset,
  type: Joi.string()
    .valid(...EVENT_TYPES)
    .description('Only events of this type'),
});

export const eventRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    operation: 'listEvents',
    scope: 'events:read',
    query: feedQuery,
    docs: {
      title: 'Read the feed of events',
      summary: 'Read the feed of events, in the order they happened',
      description:
        'Every event of the account has the next `sequence`, without gaps. Keep the last one you have seen and ask for what ' +
        'comes after it: `next_after` is that number, `has_more` says whether there is more, and the `Link` header has the next page. ' +
        'A page ends after about 2 MiB and may have fewer events than `limit`, but never none while there are some: `has_more` decides, ' +
        'and a caller that pages by `offset` adds the number of events it received. ' +
        '`pagination.total` counts what comes after `after`. Where `after` is beyond the end of the feed, the server was restored from an ' +
        'older backup: that is 409, and the message says where the feed ends.',
      response: eventResponse,
      alongside: { has_more: Joi.boolean(), next_after: Joi.number().integer() },
      conflict: appError('feed_ends_before', { last: 4000 }),
    },
    handler: listEvents,
  }),
  route({
    method: 'get',
    path: '/api/v1/event-types',
    operation: 'listEventTypes',
    scope: 'events:read',
    docs: {
      title: 'List event types',
      summary: 'List the types of events with an example of each',
      response: Joi.array().items(eventTypeResponse.meta({ schema: 'EventType' })),
    },
    handler: listEventTypes,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getEvent',
    scope: 'events:read',
    missing: 'Event not found',
    docs: {
      summary: 'Get an event',
      response: eventResponse,
    },
    read: readEvent,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/replay`,
    operation: 'replayEvent',
    scope: 'webhooks:write',
    missing,
    docs: {
      title: 'Replay an event',
      summary: 'Send an event again to every enabled endpoint that subscribes to it',
      response: eventReplayResponse,
      status: 200,
    },
    handler: replayEvent,
  }),
];

async function listEvents({ caller, query }: Context<unknown, FeedPage>): Promise<JsonResponse> {
  const { after, limit, offset, type } = query;
  const [events, left, ofType] = await Promise.all([
    readFeed(caller.accountId, query),
    countAfter(caller.accountId, after),
    type ? countFeed(caller.accountId, query) : undefined,
  ]);
  const total = ofType ?? left;
  const nextAfter = events.at(-1)?.sequence ?? after;
  const hasMore = total > offset + events.length;
  const next = new URLSearchParams({ after: String(nextAfter), limit: String(limit), ...(type ? { type } : {}) });
  return {
    status: 200,
    body: {
      data: events.map(eventView),
      pagination: { total, limit, offset },
      has_more: hasMore,
      next_after: nextAfter,
    },
    // A feed continues after the last event: new events move no page.
    headers: { Link: hasMore ? `<${path}?${String(next)}>; rel="next"` : `<${path}>; rel="first"` },
  };
}

/**
 * Returns the number of events after a sequence. The sequence has no gaps, so the last one tells it without counting.
 * @throws AppError 409 when the caller has seen more than there is: after a restore of an older backup it would otherwise miss all events up to there.
 */
async function countAfter(accountId: Id, after: number): Promise<number> {
  const counter = await Counter.findById(accountId, { event: 1 }).lean();
  const last = counter?.event ?? 0;
  if (after > last) throw appError('feed_ends_before', { last });
  return last - after;
}

function listEventTypes({ parts }: Context): Promise<JsonResponse> {
  const types = parts
    .eventCatalogue()
    .map(({ type, description, example, schema }) => ({ type, description, example, schema }));
  return Promise.resolve(found(types));
}

async function readEvent({ caller, id, session }: Reading) {
  const event = await Event.findOne({ _id: id, account_id: caller.accountId })
    .session(session ?? null)
    .lean<EventRecord>();
  return event && eventView(event);
}

async function replayEvent({ caller, id, commit, missing, parts }: Context) {
  const filter = { account_id: caller.accountId };
  const [event, endpoints] = await readAfterElection(() =>
    Promise.all([
      Event.findOne({ ...filter, _id: id }).lean<EventRecord>(),
      WebhookEndpoint.find({ ...filter, enabled: true }).lean<WebhookEndpointRecord[]>(),
    ]),
  );
  if (!event) throw missing();
  const subscribers = endpoints.filter((endpoint) => isSubscribed(endpoint, event));
  const response = await commit(async () => {
    let count = 0;
    for (const { _id } of subscribers) count += await replayEvents([event], String(_id), { skipDelivered: false });
    return updated({ deliveries: count });
  });
  parts.nudge();
  return response;
}
