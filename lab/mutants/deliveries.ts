// Mutants of webhooks and of the way out: leases, signatures, secrets, where a call may lead.
import type { Mutant } from './mutant.ts';

const DELIVER = 'test/service/webhooks/deliver-webhook.test.ts';
const LEASES = 'test/service/webhooks/leases.test.ts';
const LOSE_NOTHING = 'test/system/webhooks/lose-nothing.test.ts';
const OUTBOUND = 'test/unit/libs/outbound.test.ts';

export const deliveryMutants: Mutant[] = [
  {
    gone: 'the lease of a delivery',
    edits: [
      {
        file: 'libs/models/webhooks/delivery-guards.ts',
        text: '$or: [{ lease_until: null }, { lease_until: { $lte: now } }]',
        instead: '$or: [{ lease_until: null }, { account_id: { $exists: true } }, { lease_id: now }]',
      },
    ],
    oracle: { file: LEASES, test: 'when workers acquire one delivery at the same time' },
  },
  {
    gone: 'only the owner of a lease settles its delivery',
    edits: [
      {
        file: 'libs/models/webhooks/delivery-guards.ts',
        text: '=> ({ lease_id: leaseId }) },',
        instead: '=> void leaseId ?? {} },',
      },
    ],
    oracle: { file: LEASES, test: 'when the lease has run out' },
  },
  {
    gone: 'deliveries are with a majority before their event is done',
    edits: [
      {
        file: 'services/webhooks/store/new-deliveries.ts',
        text: 'insertMany(deliveries, { ordered: false })',
        instead: 'insertMany(deliveries, { ordered: false, writeConcern: { w: 1 } })',
      },
    ],
    oracle: { file: 'test/system/webhooks/new-primary.test.ts', test: 'when only the primary has the deliveries' },
  },
  {
    gone: 'two jobs of one delivery are not both given it',
    edits: [{ file: 'services/webhooks/acquire-delivery.ts', text: '      byId.delete(deliveryId);\n', instead: '' }],
    oracle: {
      file: 'test/service/webhooks/reservations.test.ts',
      test: 'when two jobs of one delivery run at the same time',
    },
  },
  {
    gone: 'the relay looks again at events that it has enqueued',
    edits: [
      {
        file: 'services/webhooks/relay-events.ts',
        text: 'agreedTime() + RELAY_LEASE_MS',
        instead: 'agreedTime() + 1e9',
      },
    ],
    oracle: { file: LOSE_NOTHING, test: 'when Redis is flushed after the relay has put an event on the queue' },
  },
  {
    gone: 'the poller brings a delivery that the queue lost',
    edits: [
      {
        file: 'services/webhooks/conclude-attempt.ts',
        text: 'waitMs > SHORT_WAIT_MS ? nextAt : nextAt + ENQUEUE_GRACE_MS;',
        instead: 'nextAt + 1e9;',
      },
    ],
    oracle: { file: LOSE_NOTHING, test: 'when Redis is flushed while a delivery waits for its next attempt' },
  },
  {
    gone: 'an event makes one delivery for each endpoint, however often it is fanned out',
    edits: [
      {
        file: 'libs/models/webhooks/event-filter.ts',
        text: 'return endpoint_id ? String(endpoint_id) === String(_id) : matches(events, type);',
        instead: 'void [endpoint_id, _id];\n  return matches(events, type);',
      },
    ],
    oracle: { file: DELIVER, test: 'when an event is for one endpoint, then no other gets it' },
  },
  {
    gone: 'subscriptions are those of the account',
    edits: [
      {
        file: 'services/webhooks/store/endpoints.ts',
        text: 'return Map.groupBy(endpoints, ({ account_id }) => wireId(account_id));',
        instead:
          'const all = (await driverOf(WebhookEndpoint).find({ enabled: true } as object).toArray()) as unknown as Subscription[];\n  return new Map([...distinct.keys()].map((id) => [id, all]));\n  void endpoints;',
      },
    ],
    oracle: { file: DELIVER, test: 'when another account has an endpoint for everything' },
  },
  {
    gone: 'redirects of a receiver are not followed',
    edits: [{ file: 'services/webhooks/post-signed.ts', text: 'maxRedirects: 0,', instead: 'maxRedirects: 5,' }],
    oracle: { file: DELIVER, test: 'when the receiver redirects' },
  },
  {
    gone: 'what is signed is what is sent, byte for byte',
    edits: [
      {
        file: 'services/webhooks/post-signed.ts',
        text: 'Buffer.from(body), {',
        instead: 'Buffer.from(JSON.stringify(JSON.parse(body), undefined, 1)), {',
      },
    ],
    oracle: { file: DELIVER, test: 'when a receiver fails twice and then succeeds' },
  },
  {
    gone: 'the signature is over id and time as well',
    edits: [
      { file: 'services/webhooks/post-signed.ts', text: '.sign(eventId, now, body)', instead: ".sign('', now, body)" },
    ],
    oracle: { file: DELIVER, test: 'when a receiver fails twice and then succeeds' },
  },
  {
    gone: 'secrets are sealed',
    edits: [
      {
        file: 'libs/secret-box.ts',
        text: 'const [id, key] = first;\n',
        instead: 'const [id, key] = first;\n      if (id) return plain;\n',
      },
      {
        file: 'libs/secret-box.ts',
        text: '      const key = byId.get(id);\n',
        instead: "      if (sealed.startsWith('whsec_')) return sealed;\n      const key = byId.get(id);\n",
      },
    ],
    oracle: { file: 'test/service/webhooks/api.test.ts', test: 'and the secret is stored sealed' },
  },
  {
    gone: 'the end of a rotated secret',
    edits: [
      {
        file: 'libs/models/webhooks/endpoint-secrets.ts',
        text: 'filter(({ until }) => until > now)',
        instead: 'filter(({ until }) => until)',
      },
    ],
    oracle: { file: DELIVER, test: 'when a secret was rotated' },
  },
  {
    gone: 'the breaker of an endpoint that is down',
    edits: [
      {
        file: 'services/webhooks/traffic/circuit-breaker.ts',
        text: ' else if (!isWell && mustOpen()) openUntil = now() + openMs;',
        instead: ' void mustOpen;',
      },
    ],
    oracle: { file: 'test/unit/webhooks/traffic.test.ts', test: 'at the tenth it opens' },
  },
  {
    gone: 'an attempt that hangs is ended',
    edits: [
      {
        file: 'services/webhooks/post-signed.ts',
        text: 'setTimeout(() => late.abort(), options.timeoutMs)',
        instead: 'setTimeout(() => undefined, options.timeoutMs)',
      },
    ],
    oracle: { file: DELIVER, test: 'when the receiver hangs' },
  },
  {
    gone: 'the address that was judged is the one that is dialled',
    edits: [
      {
        file: 'libs/outbound/guarded-agent.ts',
        text: 'const judged = judge(addresses, objection, rules.allowList).map(',
        instead: 'const judged = addresses.map(',
      },
      {
        file: 'libs/outbound/guarded-agent.ts',
        text: "judge([socket.remoteAddress ?? ''], objection, rules.allowList);",
        instead: '',
      },
    ],
    oracle: { file: OUTBOUND, test: 'when a name rebinds between the check and the call' },
  },
  {
    gone: 'an address inside is refused',
    edits: [
      {
        file: 'libs/outbound/target-rules.ts',
        text: "if (verdicts.some(({ verdict }) => verdict === 'refused'))",
        instead: "if (verdicts.every(({ verdict }) => verdict === 'refused') && verdicts.length > 1)",
      },
    ],
    oracle: { file: OUTBOUND, test: 'a spelling of an internal address' },
  },
];
