// Loads the images of a document: fetches them through the outbound guard or reads them from a data URI, decodes and
// caches them.
import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { LRUCache } from 'lru-cache';
import { isBug } from '#libs/errors.ts';
import type { Outbound } from '#libs/outbound/outbound.ts';
import { OutboundRefused } from '#libs/outbound/target-rules.ts';
import type { Logger } from '#libs/service/logger.ts';
import { TimeoutError, withTimeout } from '#libs/with-timeout.ts';
import type { DecodedImage, ImageFault, ImageUse } from './decode-image.ts';
import type { ImageDecoder } from './image-decoder.ts';

export type InlineImage = DecodedImage;

/** A problem that is safe to show to the caller. It reveals nothing about the program behind an address. */
type ImageProblem = ImageFault | 'refused address' | 'unreachable' | 'took too long';

export interface Images {
  /**
   * Returns the image for the page or its problem, without a promise when it is cached. Throws only `signal.reason`.
   * @param signal aborted when the document is cancelled.
   */
  get(wanted: WantedImage, signal: AbortSignal): Picture | Promise<Picture>;
}

interface WantedImage {
  /** An http(s) URL or a base64 data URI. */
  source: string;
  use: ImageUse;
  /** The account whose cache may be used. */
  accountId: string;
  /** The log for faults of this program. Faults of the host are in the result. */
  log: Logger;
  requestId: string;
}

type Picture = InlineImage | { problem: ImageProblem };

const BYTES_MAX = 5 * 1024 * 1024;
const FETCH_LIMIT_MS = 5_000;
/**
 * The limit of one image, including the wait for the decoder. A document is printed without an image that takes longer.
 */
const PICTURE_LIMIT_MS = 10_000;
const REDIRECTS_MAX = 2;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Long enough for a run of documents with one logo, short enough for a replaced logo to appear soon. */
const CACHE_LIFE_MS = 60_000;
const CACHE_BYTES = 64 * 1024 * 1024;
/** A silent host delays a run of documents by its five seconds once, and is asked again soon after its repair. */
const UNREACHABLE_LIFE_MS = 30_000;
const UNREACHABLE_BYTES = 200;

class ImageFailure extends Error {
  readonly problem: ImageProblem;

  constructor(problem: ImageProblem) {
    super(problem);
    this.problem = problem;
  }
}

export function openImages({ outbound, decoder }: { outbound: Outbound; decoder: ImageDecoder }): Images {
  const cache = new LRUCache<string, Picture, WantedImage>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (picture) => ('dataUri' in picture ? picture.dataUri.length : UNREACHABLE_BYTES),
    ttl: CACHE_LIFE_MS,
    async fetchMethod(_key, _known, { context, options, signal: unwanted }) {
      const late = AbortSignal.timeout(PICTURE_LIMIT_MS);
      const signal = AbortSignal.any([unwanted, late]);
      const { source, use, accountId, log, requestId } = context;
      try {
        const bytes = /^data:/i.test(source) ? fromDataUri(source) : await downloadInTime(source, outbound, signal);
        const decoding = decoder.decode(bytes, use, { accountId, signal });
        const decoded = await withTimeout(PICTURE_LIMIT_MS, decoding, { signal }).catch((error: unknown) => {
          throw late.aborted ? new ImageFailure('took too long') : error;
        });
        if ('fault' in decoded) throw new ImageFailure(decoded.fault);
        return decoded;
      } catch (error) {
        // Other problems are found quickly, and a repaired image should appear at once.
        if (error instanceof ImageFailure && error.problem !== 'unreachable') throw error;
        if (!signal.aborted && !isOfHost(error))
          log.error({ err: error, requestId, use }, 'an image cannot be read; the document is printed without it');
        options.ttl = UNREACHABLE_LIFE_MS;
        return { problem: 'unreachable' };
      }
    },
  });

  return {
    get(wanted, signal) {
      const { source, use, accountId } = wanted;
      const key = createHash('sha256').update(`${accountId} ${use} `).update(source).digest('base64');
      return cache.get(key) ?? fetched(key, wanted, signal);
    },
  };

  /** Fetches an image once for all documents that want it at the same time. */
  async function fetched(key: string, context: WantedImage, signal: AbortSignal): Promise<Picture> {
    for (;;) {
      try {
        return await cache.forceFetch(key, { context, signal });
      } catch (error) {
        if (error instanceof ImageFailure) return { problem: error.problem };
        // The document that began the fetch was cancelled. Another document that waits for it starts anew.
        signal.throwIfAborted();
      }
    }
  }
}

/** True for a fault of a host or the network. Anything else is a fault of this program. */
function isOfHost(error: unknown): boolean {
  if (error instanceof ImageFailure || error instanceof OutboundRefused || error instanceof TimeoutError) return true;
  if (!(error instanceof Error) || isBug(error)) return false;
  // Errors of sockets, TLS and the HTTP parser have codes.
  return (
    ['AbortError', 'TimeoutError'].includes(error.name) || typeof (error as NodeJS.ErrnoException).code === 'string'
  );
}

function fromDataUri(source: string): Buffer {
  return Buffer.from(source.slice(source.indexOf(',') + 1), 'base64');
}

/** Downloads an image. The wait ends with the limit, whatever the host does. */
async function downloadInTime(source: string, outbound: Outbound, unwanted: AbortSignal): Promise<Buffer> {
  const signal = AbortSignal.any([unwanted, AbortSignal.timeout(FETCH_LIMIT_MS)]);
  return await withTimeout(FETCH_LIMIT_MS, download(source, outbound, signal), { signal });
}

async function download(source: string, outbound: Outbound, signal: AbortSignal): Promise<Buffer> {
  let address = source;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const response = await request(address, outbound, signal);
    const { statusCode = 0 } = response;
    const { location } = response.headers;
    if (!REDIRECTS.has(statusCode) || !location) {
      if (statusCode === 200) return await readAll(response);
      response.destroy();
      throw new ImageFailure('unreachable');
    }
    response.destroy();
    const next = URL.parse(location, address);
    // A redirect must not lead from https to http, where others can read and change the response.
    if (!next || (address.startsWith('https:') && next.protocol !== 'https:')) throw new ImageFailure('unreachable');
    address = next.href;
  }
  throw new ImageFailure('unreachable');
}

async function request(address: string, outbound: Outbound, signal: AbortSignal): Promise<http.IncomingMessage> {
  const target = judged(address, outbound);
  const isSecure = target.url.protocol === 'https:';
  return await new Promise((resolve, reject) => {
    const call = (isSecure ? https : http).get(
      target.url,
      {
        agent: isSecure ? target.httpsAgent : target.httpAgent,
        signal,
        headers: {
          Accept: 'image/png,image/jpeg,image/webp,image/gif,image/avif,image/svg+xml',
          'Accept-Encoding': 'identity',
          'User-Agent': 'Billhook',
        },
      },
      resolve,
    );
    call.once('error', reject);
    // Node closes a connection that switches protocols (101) without an error and without a response.
    call.once('close', () => reject(new ImageFailure('unreachable')));
  });
}

function judged(address: string, outbound: Outbound) {
  try {
    return outbound.check(address, { protocols: ['http:', 'https:'] });
  } catch (error) {
    // This is known without a request, so it reveals nothing.
    throw error instanceof OutboundRefused ? new ImageFailure('refused address') : error;
  }
}

async function readAll(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > BYTES_MAX) {
      response.destroy();
      throw new ImageFailure('too large');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
