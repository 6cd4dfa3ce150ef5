// Limits the requests of an address and of a link, so that one visitor cannot take the pages from all others.
import { LRUCache } from 'lru-cache';
import { PageError } from '#libs/pages/page-error.ts';

const WINDOW_MS = 60_000;
/** The most entries. A flood from more addresses than these costs no more memory. */
const ENTRIES_MAX = 10_000;

/** Requests per minute. A person opens a page every few seconds. */
export interface VisitLimits {
  address: number;
  link: number;
  /** Forms of one link, which cost more than pages. */
  forms: number;
}

export const VISIT_LIMITS: VisitLimits = { address: 600, link: 300, forms: 60 };

/** Counts a request of the key. @throws PageError 429 over the limit. */
export type Admit = (key: string) => void;

/** Opens a limit in the memory of this process. Several processes have a limit each. */
export function openLimit(limit: number): Admit {
  const counts = new LRUCache<string, { count: number }>({ max: ENTRIES_MAX, ttl: WINDOW_MS });
  return (key) => {
    const entry = counts.get(key) ?? { count: 0 };
    if (entry.count === 0) counts.set(key, entry);
    entry.count += 1;
    if (entry.count > limit) throw new PageError(429, 'Too many requests. Please wait a minute.');
  };
}
