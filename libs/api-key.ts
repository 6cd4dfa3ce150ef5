// API keys: makes them, checks their form without a database, and hashes them for storage.
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30; // 178 bits: a fast hash is safe for a secret that cannot be guessed.
const CHECKSUM_LENGTH = 6; // A 32-bit CRC in base 62.
const FORM = /^bh_(?:live|test)_[0-9A-Za-z]{30}([0-9A-Za-z]{6})$/;

/**
 * Returns a fresh key: `bh_live_` or `bh_test_`, 30 random base62 characters and 6 of checksum. It is shown once and
 * never stored.
 */
export function makeApiKey(mode: 'live' | 'test' = 'live'): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  const body = `bh_${mode}_${random}`;
  return body + checksum(body);
}

/** True when the text has the form and the checksum of a key. Rejects garbage without a database read. */
export function isApiKeyForm(text: string): boolean {
  const given = FORM.exec(text)?.[1];
  return given !== undefined && given === checksum(text.slice(0, -CHECKSUM_LENGTH));
}

/** Returns the stored form of a key: SHA-256 in hex. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    text = ALPHABET[rest % ALPHABET.length] + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
