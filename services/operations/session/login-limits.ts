// Limits failed logins, so that passwords cannot be guessed and a stranger cannot lock an operator out.
import { LRUCache } from 'lru-cache';

/** The origin of an attempt, and the operator that it claims to be. */
interface Attempt {
  name: string;
  address: string;
  /** The token of a browser in which this operator has logged in before. Other attempts do not count against it. */
  browser?: string | undefined;
}

export interface LoginLimits {
  /**
   * Admits or rejects an attempt. It counts as failed until it is cancelled, so that parallel attempts cannot exceed a
   * limit.
   */
  admit(attempt: Attempt): LoginAdmission;
}

export type LoginAdmission =
  /** `cancel`: marks an attempt as no failure, because its password was right or could not be checked. */
  | { isAdmitted: true; cancel: () => void }
  /** `isFirst`: the first rejection of its window, the only one that is recorded. */
  | { isAdmitted: false; retryAfterMs: number; isFirst: boolean };

const WINDOW_MS = 15 * 60_000;
/** The limit per name and address: a person mistypes a few times, an attacker needs thousands of attempts. */
const FAILURES_PER_PAIR = 10;
/** The limit per address, which several operators may share. */
const FAILURES_PER_ADDRESS = 30;
const FAILURES_PER_BROWSER = 10;
/**
 * The failures of a name from all addresses before delays begin. Each further one doubles the delay before the next
 * attempt.
 */
const FAILURES_WITHOUT_DELAY = 10;
const FIRST_DELAY_MS = 1_000;
/** The longest delay. An attacker with many addresses has 1,440 attempts a day for a name. */
const LONGEST_DELAY_MS = 60_000;
/**
 * The most entries. Only admitted attempts make them, and each costs a quarter of a second, so no attacker evicts one
 * within its window.
 */
const ENTRIES_MAX = 10_000;

interface Failures {
  count: number;
  endsAt: number;
  /** The time before which the next attempt of a name is not admitted. */
  delayedUntil?: number;
  isRejecting: boolean;
}

/**
 * Opens limits in the memory of this process, because logins must work while Redis is unavailable. Several dashboards
 * have a limit each.
 */
export function openLoginLimits(now: () => number = () => performance.now()): LoginLimits {
  const entries = new LRUCache<string, Failures>({ max: ENTRIES_MAX });

  /**
   * Returns the failures of the present window, or none. It stores nothing, because a rejected attempt must not fill
   * the memory.
   */
  function failuresOf(key: string): Failures {
    const found = entries.get(key);
    return found && now() < found.endsAt ? found : { count: 0, endsAt: now() + WINDOW_MS, isRejecting: false };
  }

  function admitKnown(browser: string): LoginAdmission | undefined {
    const key = `browser ${browser}`;
    const failures = failuresOf(key);
    return failures.count < FAILURES_PER_BROWSER ? count({ [key]: failures }) : undefined;
  }

  function admitUnknown({ name, address }: Attempt): LoginAdmission {
    const keys = { address: `address ${address}`, pair: `pair ${address} ${name}`, name: `name ${name}` };
    const [ofAddress, ofPair, ofName] = [failuresOf(keys.address), failuresOf(keys.pair), failuresOf(keys.name)];
    if (ofAddress.count >= FAILURES_PER_ADDRESS) return reject(ofAddress, ofAddress.endsAt);
    if (ofPair.count >= FAILURES_PER_PAIR) return reject(ofPair, ofPair.endsAt);
    const { delayedUntil = 0 } = ofName;
    if (now() < delayedUntil) return reject(ofName, delayedUntil);
    ofName.delayedUntil = now() + delayAfter(ofName.count + 1);
    // A name is forgotten after a window without an attempt, so that a patient attacker gets no free attempts.
    ofName.endsAt = now() + WINDOW_MS;
    return count({ [keys.address]: ofAddress, [keys.pair]: ofPair, [keys.name]: ofName });
  }

  function count(counted: Record<string, Failures>): LoginAdmission {
    for (const [key, failures] of Object.entries(counted)) {
      failures.count += 1;
      entries.set(key, failures);
    }
    const cancel = () => {
      for (const failures of Object.values(counted)) {
        failures.count -= 1;
        delete failures.delayedUntil;
      }
    };
    return { isAdmitted: true, cancel };
  }

  function reject(failures: Failures, until: number): LoginAdmission {
    const isFirst = !failures.isRejecting;
    failures.isRejecting = true;
    return { isAdmitted: false, retryAfterMs: until - now(), isFirst };
  }

  // A known browser above its own limit is treated like any other.
  return { admit: (attempt) => (attempt.browser && admitKnown(attempt.browser)) || admitUnknown(attempt) };
}

function delayAfter(failures: number): number {
  const excess = failures - FAILURES_WITHOUT_DELAY;
  return excess <= 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (excess - 1));
}
