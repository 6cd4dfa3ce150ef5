// Makes one attempt: opens the endpoint's secrets, signs, calls, and returns the outcome to record.
import { LRUCache } from 'lru-cache';
import { agreedDate } from '#libs/clock.ts';
import { type Id, type StoredId, wireId } from '#libs/models/tenant.ts';
import type { Attempt } from '#libs/models/webhooks/delivery.ts';
import { secretsOf } from '#libs/models/webhooks/endpoint-secrets.ts';
import type { WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import type { SecretBox } from '#libs/secret-box.ts';
import type { Logger } from '#libs/service/logger.ts';
import type { CallOutcome, PostSigned } from './post-signed.ts';

/** The shortest interval between two log lines about an endpoint whose secret cannot be opened. */
const LOGGED_EVERY_MS = 10 * 60_000;
const LOGGED_MAX = 1_000;
/** The outcome without a signature. No call is made. */
const UNSIGNED: CallOutcome = { isWell: false, durationMs: 0, errorClass: 'secret_unreadable' };

/** Makes the call at once, because the lease was checked just before. */
export type AttemptDelivery = (
  endpoint: WebhookEndpointRecord,
  content: {
    eventId: StoredId;
    /** The frozen bytes of the event. */
    body: string;
    /** True for an event of a test account. */
    isTest: boolean;
  },
  log: Logger,
) => Promise<{ outcome: CallOutcome; attempt: Attempt }>;

export function makeAttemptDelivery(options: { box: SecretBox; postSigned: PostSigned }): AttemptDelivery {
  const logged = new LRUCache<Id, true>({ max: LOGGED_MAX, ttl: LOGGED_EVERY_MS });

  return async (endpoint, { eventId, body, isTest }, log) => {
    const at = agreedDate();
    const secrets = signingSecrets(endpoint, log);
    const { url } = endpoint;
    const outcome = secrets
      ? await options.postSigned({ url, eventId: wireId(eventId), body, secrets, isTest })
      : UNSIGNED;
    return { outcome, attempt: attemptOf(at, outcome) };
  };

  /**
   * Returns the secrets that sign, or undefined when no key opens the current one. That counts as a failed attempt, so
   * that attempts come to an end.
   */
  function signingSecrets(endpoint: WebhookEndpointRecord, log: Logger): string[] | undefined {
    try {
      return secretsOf(endpoint, options.box);
    } catch (error) {
      const endpointId = wireId(endpoint._id);
      if (!logged.has(endpointId)) {
        logged.set(endpointId, true);
        log.error(
          { err: error, endpointId },
          'no key of SECRET_KEY opens the secret of this endpoint; its deliveries fail until the key is back or the secret is rotated',
        );
      }
      return undefined;
    }
  }
}

function attemptOf(at: Date, { durationMs, status, errorClass, head }: CallOutcome): Attempt {
  return {
    at,
    ...(errorClass === 'unreachable' ? {} : { duration_ms: durationMs }),
    ...(status === undefined ? {} : { response_status: status }),
    ...(errorClass ? { error_class: errorClass } : {}),
    ...(head ? { response_headers: head } : {}),
  };
}
