// The key with which an installation signs evidence. Its public half is published, so that a stranger can check a signature.
import { createPrivateKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto';
import { type InferSchemaType, model, Schema } from 'mongoose';
import { agreedDate } from '../../clock.ts';
import { isDuplicate } from '../../mongo/errors.ts';
import type { SecretBox } from '../../secret-box.ts';
import { newId } from '../tenant.ts';

/** The key of an installation. Another one would be a second record. */
const FIRST = 1;

const keySchema = new Schema(
  {
    /** The number of the key, from 1: an installation makes one of each number. */
    _id: { type: Number, required: true },
    /** The id by which a signature names it. */
    key_id: { type: String, required: true },
    /** The public key: `x` of RFC 8037, base64url. */
    public: { type: String, required: true },
    /** The private key, PKCS #8 in PEM, sealed. */
    sealed: { type: String, required: true },
    created_at: { type: Date, required: true },
  },
  { versionKey: false, strict: 'throw', collection: 'signing_keys' },
);

type SigningKeyRecord = InferSchemaType<typeof keySchema>;

export const SigningKey = model('SigningKey', keySchema);

export interface Signer {
  keyId: string;
  /** Returns the Ed25519 signature of the UTF-8 bytes of a text, in base64. */
  sign(text: string): string;
}

/**
 * Opens the key of this installation, and makes it when there is none.
 * @throws Error when no key of SECRET_KEY opens it.
 */
export async function openSigner(box: SecretBox): Promise<Signer> {
  const { key_id, sealed } = (await findKey()) ?? (await makeKey(box));
  const key = createPrivateKey(box.open(sealed));
  return { keyId: key_id, sign: (text) => sign(null, Buffer.from(text), key).toString('base64') };
}

/** Returns the public keys as a JSON Web Key Set (RFC 7517, RFC 8037). */
export async function publicKeys(): Promise<{ keys: JsonWebKey[] }> {
  const found = await SigningKey.find().sort({ _id: 1 }).lean<SigningKeyRecord[]>();
  const keys = found.map(({ key_id, public: x }) => ({
    kty: 'OKP',
    crv: 'Ed25519',
    x,
    kid: key_id,
    use: 'sig',
    alg: 'EdDSA',
  }));
  return { keys };
}

function findKey(): Promise<SigningKeyRecord | null> {
  return SigningKey.findById(FIRST).lean<SigningKeyRecord>();
}

/** Makes the key. Of two processes that do so at once, one gets the key of the other. */
async function makeKey(box: SecretBox): Promise<SigningKeyRecord> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const record = {
    _id: FIRST,
    key_id: newId(),
    public: String(publicKey.export({ format: 'jwk' }).x),
    sealed: box.seal(String(privateKey.export({ type: 'pkcs8', format: 'pem' }))),
    created_at: agreedDate(),
  };
  try {
    await SigningKey.create(record);
    return record;
  } catch (error) {
    const made = isDuplicate(error) ? await findKey() : null;
    if (!made) throw error;
    return made;
  }
}
