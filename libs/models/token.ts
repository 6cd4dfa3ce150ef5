// Random tokens, in cookies and links. The database has only their hashes, so a reader of the database cannot use them.
import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** Makes a token. @returns 43 characters of base64url. */
export function makeToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Returns the SHA-256 of a token in hex. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
