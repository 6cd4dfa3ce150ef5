// Verifies webhook calls by WebCrypto, which Node, Bun and browsers have alike. The scheme is that of Standard Webhooks.
import type { WebhookEvent } from './generated/billhook.ts';

export type WebhookProblem =
  | 'missing_header'
  | 'malformed_header'
  | 'malformed_secret'
  | 'outside_tolerance'
  | 'wrong_signature'
  | 'malformed_body';

/** A webhook call that must not be trusted. Respond with 400 and do nothing. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly code: WebhookProblem;

  constructor(code: WebhookProblem, message: string) {
    super(message);
    this.code = code;
  }
}

/** Headers as `fetch` has them, or as those of Node's `http` do. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

export interface VerifyWebhookOptions {
  /** Seconds that the timestamp of a call may differ from this machine's clock, 300 unless given. */
  tolerance?: number;
}

/**
 * Verifies a call and returns its event. Process the event once for each `webhook-id`, because a retry has the same id.
 *
 * @param body the raw body, before any JSON parser: a body that was parsed and written again is another one
 * @param secret the endpoint's secret (`whsec_…`), or several while you change over to a new one
 * @throws WebhookVerificationError with the reason as `code`
 */
export async function verifyWebhook(
  body: string | ArrayBuffer | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[] | null | undefined,
  { tolerance = 300 }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = signaturesOf(headerOf(headers, 'webhook-signature'));
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError('malformed_header', 'webhook-timestamp is not a number of seconds');
  }
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > tolerance) {
    throw new WebhookVerificationError(
      'outside_tolerance',
      `webhook-timestamp differs by more than ${tolerance} s from the clock of this machine`,
    );
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const secrets = typeof secret === 'string' ? [secret] : (secret ?? []);
  if (!(await isSigned(signed, signatures, secrets))) {
    throw new WebhookVerificationError('wrong_signature', 'no signature fits the body and the secret');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as WebhookEvent;
  } catch {
    throw new WebhookVerificationError('malformed_body', 'the body is no JSON');
  }
}

/** Compares in WebCrypto, whose time does not depend on where two signatures differ. */
async function isSigned(signed: Bytes, signatures: readonly Bytes[], secrets: readonly string[]): Promise<boolean> {
  if (secrets.length === 0) throw new WebhookVerificationError('malformed_secret', 'the secret is missing');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey('raw', keyOf(secret), algorithm, false, ['verify']);
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true;
    }
  }
  return false;
}

type Bytes = Uint8Array<ArrayBuffer>;

function headerOf(headers: WebhookHeaders, name: string): string {
  // Node's own headers are in lower case, those of other frameworks may not be.
  const entries = headers instanceof Headers ? [[name, headers.get(name)] as const] : Object.entries(headers);
  const value = entries.find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError('missing_header', `${name} is missing`);
}

/** Reads `v1,<base64> v1,<base64>`. During a rotation the gateway signs with several secrets; other versions are skipped. */
function signaturesOf(header: string): Bytes[] {
  return header
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .flatMap((part) => bytesOf(part.slice('v1,'.length)) ?? []);
}

function keyOf(secret: string): Bytes {
  const key = bytesOf(secret.replace(/^whsec_/, ''));
  if (key && key.length > 0) return key;
  throw new WebhookVerificationError('malformed_secret', 'the secret is not whsec_ and base64');
}

function bytesOf(base64: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(first: Bytes, second: Uint8Array): Bytes {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
