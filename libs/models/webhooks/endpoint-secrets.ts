// The signing secrets of an endpoint: the current one, and its predecessors while they overlap with it.
import { randomBytes } from 'node:crypto';
import { agreedDate } from '../../clock.ts';
import { openedBy, type SecretBox } from '../../secret-box.ts';

/** The time for which deliveries carry the signature of the old secret, too: a day to roll the new one out. */
const ROTATION_OVERLAP_MS = 24 * 3_600_000;
/**
 * The most former secrets. A caller that lost a response and rotates again must not end the secret that its receivers
 * use. Each secret adds a signature to every call.
 */
const FORMER_MAX = 4;
const SECRET_BYTES = 32; // Standard Webhooks asks for 24 to 64.

export interface FormerSecret {
  /** The secret in sealed form, see secret-box.ts. */
  secret: string;
  until: Date;
}

interface Secrets {
  /** The secret in sealed form, see secret-box.ts. */
  secret: string;
  previous_secrets?: FormerSecret[] | null;
}

/** Returns a fresh signing secret: `whsec_` + base64 of 32 bytes. */
export function makeSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** Returns the former secrets that still overlap with the current one, latest first. */
export function formerSecrets(
  { previous_secrets }: Pick<Secrets, 'previous_secrets'>,
  now: Date = agreedDate(),
): FormerSecret[] {
  return (previous_secrets ?? []).filter(({ until }) => until > now);
}

/**
 * Returns the secrets that sign now, the current one first. A former secret that no key opens is left out.
 * @throws Error when no key opens the current one.
 */
export function secretsOf(endpoint: Secrets, box: Pick<SecretBox, 'open'>, now: Date = agreedDate()): string[] {
  const former = formerSecrets(endpoint, now).flatMap(({ secret }) => openedBy(box, secret) ?? []);
  return [box.open(endpoint.secret), ...former];
}

/**
 * Returns the change that sets a new secret. The replaced secret signs until the overlap ends, as do those before it.
 */
export function rotated(endpoint: Secrets, sealed: string, now: Date = agreedDate()) {
  const replaced = { secret: endpoint.secret, until: new Date(now.getTime() + ROTATION_OVERLAP_MS) };
  return { secret: sealed, previous_secrets: [replaced, ...formerSecrets(endpoint, now)].slice(0, FORMER_MAX) };
}
