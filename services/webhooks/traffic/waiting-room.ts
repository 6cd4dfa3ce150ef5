// Attempts that wait in this process until another call to their endpoint ends. For a quick endpoint that costs less
// than deferring.
import type { DeliveryAdmission, Wait } from './admission.ts';
import type { EndpointAttempts } from './endpoint-attempts.ts';
import type { SpeedJudge } from './endpoint-speed.ts';

/** The share of all slots that attempts may occupy while they wait here. The rest is for other endpoints. */
const WAITING_SHARE = 3 / 4;
/** The share of the slots for one endpoint, however quick it is. */
const WAITING_SHARE_OF_ONE = 1 / 3;
/**
 * The interval and the number of checks by which an attempt that waits here finds out if the endpoint is still quick.
 */
const CHECK_EVERY_MS = 500;
const CHECKS_MAX = 10;

export interface WaitingEndpoint extends EndpointAttempts {
  /** The attempts that wait. Each gets an admission. */
  waiting: Array<(admission: DeliveryAdmission) => void>;
}

export function makeWaitingRoom(speed: SpeedJudge, slots = Number.POSITIVE_INFINITY) {
  let waitingHere = 0;
  return {
    hasRoom(endpoint: WaitingEndpoint): boolean {
      const ms = endpoint.expectedMs();
      const place = endpoint.waiting.length + 1;
      // An attempt that comes later than the last check would be deferred in the end.
      const isInTime = (ms * place) / endpoint.limit() < CHECKS_MAX * CHECK_EVERY_MS;
      if (!isInTime || place > WAITING_SHARE_OF_ONE * slots) return false;
      return speed.isQuick(ms) || (speed.isLikeOthers(ms) && waitingHere < WAITING_SHARE * slots);
    },
    /**
     * Waits.
     * @returns an admission as soon as another attempt is released, or a wait when the endpoint turns out to be slow or
     * down.
     */
    wait(endpoint: WaitingEndpoint): Promise<DeliveryAdmission> {
      return new Promise((resolve) => {
        let checksLeft = CHECKS_MAX;
        waitingHere += 1;
        const end = (admission: DeliveryAdmission) => {
          waitingHere -= 1;
          clearInterval(timer);
          resolve(admission);
        };
        const timer = setInterval(() => {
          checksLeft -= 1;
          if (checksLeft > 0 && !endpoint.breaker.isOpen() && !speed.isSlow(endpoint.expectedMs())) return;
          endpoint.waiting.splice(endpoint.waiting.indexOf(end), 1);
          end({ admitted: false, ...beyondLimit(endpoint) });
        }, CHECK_EVERY_MS);
        endpoint.waiting.push(end);
      });
    },
  };
}

/** Returns the wait of an attempt that finds the limit reached and no room here. */
export const beyondLimit = (endpoint: WaitingEndpoint): Wait => ({ waitMs: endpoint.deferMs(), isOpen: false });
