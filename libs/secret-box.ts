// Encrypts small secrets at rest with AES-256-GCM under a list of keys, so that keys can be rotated.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const IV_BYTES = 12; // The length that NIST SP 800-38D recommends for GCM.
const TAG_BYTES = 16;

export interface SecretBox {
  /** The ids of the keys in the list. The first one encrypts. */
  keyIds: readonly string[];
  /** Encrypts a text. @returns `<key id>.<base64url of iv, tag and ciphertext>`. */
  seal(plain: string): string;
  /** Decrypts a text. @throws Error when it is damaged or its key is not in the list. */
  open(sealed: string): string;
}

/**
 * Opens a box.
 * @param keys comma-separated base64 of 32 bytes each: the first encrypts, all decrypt. To rotate, put a new key in
 * front.
 * @throws Error when a key does not have 32 bytes.
 */
export function openSecretBox(keys: string): SecretBox {
  const byId = new Map(
    keys.split(',').map((text) => {
      const key = Buffer.from(text.trim(), 'base64');
      if (key.length !== 32) throw new Error('SECRET_KEY must hold base64 of exactly 32 bytes in each of its parts');
      return [createHash('sha256').update(key).digest('hex').slice(0, 8), key] as const;
    }),
  );
  const [first] = byId;
  if (!first) throw new Error('SECRET_KEY is empty');

  return {
    keyIds: [...byId.keys()],
    seal(plain) {
      const [id, key] = first;
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const encrypted = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `${id}.${Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')}`;
    },
    open(sealed) {
      const id = keyIdOf(sealed);
      const [, text = ''] = sealed.split('.');
      const key = byId.get(id);
      if (!key) throw new Error(`No key of SECRET_KEY has the id ${id}`);
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}

/** Decrypts a text that may be lost. @returns undefined when it is damaged or its key is not in the list. */
export function openedBy(box: Pick<SecretBox, 'open'>, sealed: string): string | undefined {
  try {
    return box.open(sealed);
  } catch {
    return undefined;
  }
}

/** Returns the id of the key that sealed the text. It reveals nothing about the key. */
export function keyIdOf(sealed: string): string {
  return sealed.split('.', 1)[0] ?? '';
}
