// Random tokens in cookies of the dashboard. The browser holds the token, the database only its hash: a reader of the database cannot log in.
import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** @returns 43 characters of base64url. */
export function makeToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256, hex. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
