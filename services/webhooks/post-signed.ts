// One HTTP call of a delivery: signs the frozen bytes, posts them, and classifies the response.
import type { IncomingMessage } from 'node:http';
import axios, { type AxiosResponse, isAxiosError } from 'axios';
import { Webhook } from 'standardwebhooks';
import { agreedDate } from '#libs/clock.ts';
import type { ErrorClass, ResponseHeader } from '#libs/models/webhooks/delivery.ts';
import type { Outbound } from '#libs/outbound/outbound.ts';
import { OutboundRefused } from '#libs/outbound/target-rules.ts';
import { shortHead } from './response-head.ts';
import { readRetryAfter } from './schedule.ts';

/** The part of the response body that is read, so that the connection can be used again. The body is discarded. */
const RESPONSE_MAX_BYTES = 16 * 1024;
/**
 * The time that a response may take after its head. One that is later may never end: the connection is closed, and the
 * next call opens another.
 */
const REST_LIMIT_MS = 1_000;
/**
 * A reused connection that the receiver had closed fails within a round trip. A later failure may be due to the event.
 */
const STALE_SHOWS_MS = 1_000;

interface Call {
  url: string;
  eventId: string;
  /** The frozen bytes of the event. */
  body: string;
  /** The secrets, the current one first. Each makes one signature. */
  secrets: string[];
  /** True for an event of a test account. A header shows it. */
  isTest: boolean;
}

export interface CallOutcome {
  isWell: boolean;
  durationMs: number;
  /** Absent without a response. */
  status?: number;
  /** The head of the response, shortened and masked. Absent without a response. */
  head?: ResponseHeader[];
  /** Absent on success. */
  errorClass?: ErrorClass;
  retryAfterMs?: number | undefined;
  /** A description for the log. A tenant must not see it. */
  problem?: string;
  /** Resolves when the response has ended or was cut off. Absent when all of it came with its head. */
  rest?: Promise<void> | undefined;
}

export type PostSigned = (call: Call) => Promise<CallOutcome>;

/**
 * Makes the function.
 * @param options.timeoutMs the limit for everything: resolving, connecting, sending, and the head of the response.
 */
export function makePostSigned(options: { outbound: Outbound; timeoutMs: number; userAgent: string }): PostSigned {
  return async (call) => {
    const startedAt = performance.now();
    const elapsed = () => Math.round(performance.now() - startedAt);
    try {
      const response = await postOnFreshConnection(call, options);
      return { durationMs: elapsed(), ...classify(response), rest: drain(response.data) };
    } catch (error) {
      const isTimeout = isAxiosError(error) && error.code === 'ERR_CANCELED';
      return {
        isWell: false,
        durationMs: elapsed(),
        errorClass: isTimeout ? 'timeout' : 'unreachable',
        problem: describe(error),
      };
    }
  };
}

async function postOnFreshConnection(call: Call, options: Parameters<typeof makePostSigned>[0]) {
  const startedAt = performance.now();
  // One timer covers the call and its repetition. An AbortSignal.timeout would stay in memory until it fires.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), options.timeoutMs);
  try {
    return await post(call, options, late.signal);
  } catch (error) {
    // The receiver closed an idle connection at the moment it was used again. That says nothing about the receiver.
    const wasReused = isAxiosError(error) && (error.request as { reusedSocket?: boolean } | undefined)?.reusedSocket;
    const wasStale = wasReused && performance.now() - startedAt < STALE_SHOWS_MS;
    if (wasStale && (error.code === 'ECONNRESET' || error.code === 'EPIPE'))
      return await post(call, options, late.signal);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function post(
  { url, eventId, body, secrets, isTest }: Call,
  { outbound, userAgent }: { outbound: Outbound; userAgent: string },
  signal: AbortSignal,
) {
  const target = outbound.check(url, { protocols: ['https:'] });
  const now = agreedDate();
  return axios.post<IncomingMessage>(target.url.href, Buffer.from(body), {
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': userAgent,
      'Accept-Encoding': 'identity',
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(eventId, now, body)).join(' '),
      ...(isTest ? { 'billhook-mode': 'test' } : {}),
    },
    httpAgent: target.httpAgent,
    httpsAgent: target.httpsAgent,
    proxy: false, // A proxy from the environment would dial instead of the outbound guard.
    maxRedirects: 0, // A redirect could lead to a private address.
    signal,
    responseType: 'stream',
    decompress: false,
    validateStatus: () => true,
  });
}

function classify({ status, headers, data }: AxiosResponse<IncomingMessage>): Omit<CallOutcome, 'durationMs'> {
  const head = shortHead(data.rawHeaders);
  if (status >= 200 && status < 300) return { isWell: true, status, head };
  const mayWait = status === 429 || status === 503;
  return {
    isWell: false,
    status,
    head,
    errorClass: errorClassOf(status),
    ...(mayWait ? { retryAfterMs: readRetryAfter(headers['retry-after']) } : {}),
  };
}

function errorClassOf(status: number): ErrorClass {
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}

// The head decides the outcome, but the connection is busy until the response has ended.
function drain(body: IncomingMessage): Promise<void> | undefined {
  let left = RESPONSE_MAX_BYTES;
  body.on('error', () => undefined); // The receiver may break off a body that is discarded anyway.
  body.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) body.destroy();
  });
  // Nearly every response is complete by now and needs no timer.
  if (body.complete || body.closed) return undefined;
  return new Promise((resolve) => {
    const timer = setTimeout(() => body.destroy(), REST_LIMIT_MS);
    body.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof OutboundRefused ? error.cause : error;
  if (cause instanceof OutboundRefused) return `refused: ${cause.reason}`;
  if (!(cause instanceof Error)) return String(cause);
  return (cause as NodeJS.ErrnoException).code ?? cause.message;
}
