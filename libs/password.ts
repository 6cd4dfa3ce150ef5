// Passwords of operators: generates them, and stores them as scrypt hashes that are slow to guess.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** OWASP's parameters for scrypt with 64 MiB: about a quarter of a second of one core per guess. */
const COST = { N: 2 ** 16, r: 8, p: 2 } as const;
const MEMORY_MAX_BYTES = 128 * 2 ** 20;
const HASH_BYTES = 32;
const SALT_BYTES = 16;
const FORM = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]+)$/;

export const PASSWORD_SHORTEST = 12;
export const PASSWORD_LONGEST = 200;

/** Returns a new password of 144 random bits in URL-safe base64. */
export function makePassword(): string {
  return randomBytes(18).toString('base64url');
}

/** Hashes a password. @returns `scrypt$N$r$p$salt$hash`. The costs are stored with the hash, so that they can grow. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  return `scrypt$${COST.N}$${COST.r}$${COST.p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

/**
 * Checks a password.
 * @param stored undefined for an unknown name, which takes as long as a wrong password and returns false.
 */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, N, r, p, salt, hash] = FORM.exec(stored ?? '') ?? [];
  const expected = Buffer.from(hash ?? '', 'base64url');
  const cost = hash ? { N: Number(N), r: Number(r), p: Number(p) } : COST;
  const given = await derive(password, Buffer.from(salt ?? '', 'base64url'), cost);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

function derive(password: string, salt: Buffer, cost: { N: number; r: number; p: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Two keyboards may produce different code points for the same letters.
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, { ...cost, maxmem: MEMORY_MAX_BYTES }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
