// Has a renderer fetch the logo behind an address for a page. The portal itself fetches and decodes nothing.
import { createHash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { agreedTime } from '#libs/clock.ts';
import { loadLogo } from '#libs/jobs/catalog.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import type { Replies } from '#libs/jobs/replies.ts';
import type { Id } from '#libs/models/tenant.ts';
import type { Logger } from '#libs/service/logger.ts';

interface WantedLogo {
  accountId: Id;
  /** An http(s) address. */
  url: string;
}

/** Returns the logo, a small PNG, or undefined when there is none to show. */
export type LoadLogo = (wanted: WantedLogo) => Promise<Buffer | undefined>;

/** The time for which a page waits. A renderer waits five seconds for the host of a logo. */
const DEADLINE_MS = 7_000;
/** The time for which a logo, or that there is none, is known: as long as renderers keep it. */
const LIFE_MS = 60_000;
const CACHE_BYTES = 8 * 1024 * 1024;
/** The size of an entry besides its logo. */
const ENTRY_BYTES = 300;
/**
 * The most logos in flight, of all accounts and of one. Documents keep the logo with which they were issued, so an
 * account can have many.
 */
const IN_FLIGHT_MAX = 16;
const OF_ACCOUNT_MAX = 2;

const NONE = Buffer.alloc(0);
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** More than the renderer's image can have. */
const LOGO_BYTES_MAX = 80 * 1024;

interface LogoParts {
  queues: Queues;
  replies: Replies;
  log: Logger;
  deadlineMs?: number;
}

/** Opens the way to the logos. Visitors can have a logo fetched once a minute, however often they ask for it. */
export function openLogos({ queues, replies, log, deadlineMs = DEADLINE_MS }: LogoParts): LoadLogo {
  const inFlight = new Set<WantedLogo>();
  const cache = new LRUCache<string, Buffer, WantedLogo>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ length }) => length + ENTRY_BYTES,
    ttl: LIFE_MS,
    async fetchMethod(_key, _known, { context }) {
      const behind = [...inFlight].filter(({ accountId }) => accountId === context.accountId).length;
      // The cache keeps nothing of a logo that was not asked for.
      if (behind >= OF_ACCOUNT_MAX || inFlight.size >= IN_FLIGHT_MAX) return undefined;
      inFlight.add(context);
      try {
        return await loaded(context, behind);
      } catch (error) {
        log.warn(
          { err: error, accountId: context.accountId },
          'a logo was not loaded; pages show the name for a minute',
        );
        return NONE;
      } finally {
        inFlight.delete(context);
      }
    },
  });

  async function loaded({ accountId, url }: WantedLogo, behind: number): Promise<Buffer> {
    const id = randomUUID();
    const deadlineAt = agreedTime() + deadlineMs;
    const over = new AbortController();
    // Registered before the job is in the queue: the reply may be faster than the next line.
    const reply = replies.expect(id, { deadlineAt, signal: over.signal });
    const payload = { url, accountId, deadlineAt, replyTo: replies.address };
    queues.enqueue(loadLogo, { id, payload, behind }).catch((error: unknown) => over.abort(error));
    try {
      const { bytes } = await reply;
      if (bytes.length === 0) return NONE;
      if (bytes.length > LOGO_BYTES_MAX || !bytes.subarray(0, PNG.length).equals(PNG))
        throw new Error('The renderer did not return a small PNG');
      // A copy: the bytes are a view of the whole reply.
      return Buffer.from(bytes);
    } catch (error) {
      // A job that no renderer has taken must not stay in the queue.
      void queues.remove(loadLogo, id);
      throw error;
    }
  }

  return async (wanted) => {
    const key = createHash('sha256').update(`${wanted.accountId} ${wanted.url}`).digest('base64');
    const logo = await cache.fetch(key, { context: wanted });
    return logo?.length ? logo : undefined;
  };
}
