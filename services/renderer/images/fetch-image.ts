// Gets the images of a document: through the outbound guard or out of the data URI, through the decoder, into the page.
import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { LRUCache } from 'lru-cache';
import { type Outbound, OutboundRefused } from '#libs/outbound/outbound.ts';
import { withTimeout } from '#libs/with-timeout.ts';
import type { DecodedImage, ImageFault, ImageUse } from './decode-image.ts';
import type { ImageDecoder } from './image-decoder.ts';

export type InlineImage = DecodedImage;

/** Safe to tell the caller: says nothing about what is or is not behind an address. */
export type ImageProblem = ImageFault | 'refused address' | 'unreachable' | 'took too long';

export interface Images {
  /**
   * @param source an http(s) URL or a base64 data URI. @param accountId whose cache may be used.
   * @param signal aborted when the document is not wanted any more.
   * @returns the image ready for the page, or why there is none: at once when it is remembered. Throws nothing but `signal.reason`.
   */
  get(source: string, use: ImageUse, accountId: string, signal: AbortSignal): Picture | Promise<Picture>;
}

export type Picture = InlineImage | { problem: ImageProblem };

const BYTES_MAX = 5 * 1024 * 1024;
const FETCH_LIMIT_MS = 5_000;
/** With its turn to be decoded: the document is printed without a picture that nobody had time for. */
const PICTURE_LIMIT_MS = 10_000;
const REDIRECTS_MAX = 2;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Long enough for a run of documents with one logo, short enough that a new logo shows at once. */
const CACHE_LIFE_MS = 60_000;
const CACHE_BYTES = 64 * 1024 * 1024;
/** A host that is silent costs a run of documents its five seconds once, and is asked again soon after it is repaired. */
const UNREACHABLE_LIFE_MS = 30_000;
const UNREACHABLE_BYTES = 200;

interface Wanted {
  source: string;
  use: ImageUse;
  accountId: string;
}

class ImageFailure extends Error {
  readonly problem: ImageProblem;

  constructor(problem: ImageProblem) {
    super(problem);
    this.problem = problem;
  }
}

export function openImages({ outbound, decoder }: { outbound: Outbound; decoder: ImageDecoder }): Images {
  const cache = new LRUCache<string, Picture, Wanted>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (picture) => ('dataUri' in picture ? picture.dataUri.length : UNREACHABLE_BYTES),
    ttl: CACHE_LIFE_MS,
    async fetchMethod(_key, _known, { context, options, signal: unwanted }) {
      const late = AbortSignal.timeout(PICTURE_LIMIT_MS);
      const signal = AbortSignal.any([unwanted, late]);
      try {
        const { source, use, accountId } = context;
        const bytes = /^data:/i.test(source) ? fromDataUri(source) : await downloadInTime(source, outbound, signal);
        const decoding = decoder.decode(bytes, use, { accountId, signal });
        const decoded = await withTimeout(PICTURE_LIMIT_MS, decoding, { signal }).catch((error: unknown) => {
          throw late.aborted ? new ImageFailure('took too long') : error;
        });
        if ('fault' in decoded) throw new ImageFailure(decoded.fault);
        return decoded;
      } catch (error) {
        // The other problems are found at once, and whoever has repaired his picture wants to see it.
        if (error instanceof ImageFailure && error.problem !== 'unreachable') throw error;
        options.ttl = UNREACHABLE_LIFE_MS;
        return { problem: 'unreachable' };
      }
    },
  });

  return {
    get(source, use, accountId, signal) {
      const key = createHash('sha256').update(`${accountId} ${use} `).update(source).digest('base64');
      return cache.get(key) ?? fetched(key, { source, use, accountId }, signal);
    },
  };

  /** Documents that want it at the same time fetch it once. */
  async function fetched(key: string, context: Wanted, signal: AbortSignal): Promise<Picture> {
    for (;;) {
      try {
        return await cache.forceFetch(key, { context, signal });
      } catch (error) {
        if (error instanceof ImageFailure) return { problem: error.problem };
        // Whoever began to fetch it is not wanted any more. If it is not us, we begin anew.
        signal.throwIfAborted();
      }
    }
  }
}

function fromDataUri(source: string): Buffer {
  return Buffer.from(source.slice(source.indexOf(',') + 1), 'base64');
}

/** Whatever a host thinks of: the wait ends with the limit. */
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
    // From https one does not go back to where everybody can read and change the answer.
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
    // A host that changes to another protocol (101) is cut off by Node without an error and without an answer.
    call.once('close', () => reject(new ImageFailure('unreachable')));
  });
}

function judged(address: string, outbound: Outbound) {
  try {
    return outbound.check(address, { protocols: ['http:', 'https:'] });
  } catch (error) {
    // Known without asking anybody, so telling it gives nothing away.
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
