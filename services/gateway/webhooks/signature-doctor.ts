// Diagnoses a call that a receiver could not verify: the wrong secret, a changed body, or lost headers.
import { createHmac } from 'node:crypto';
import { agreedTime } from '#libs/clock.ts';

export interface Finding {
  check: 'headers' | 'timestamp' | 'signature_form' | 'event' | 'body' | 'secret';
  ok: boolean;
  message: string;
}

export interface Diagnosis {
  /** True when the signature is right for the body with one of the secrets. */
  valid: boolean;
  findings: Finding[];
}

export interface Symptoms {
  /** Names in any case. */
  headers: Record<string, string>;
  body: string;
  /** The secrets that may have signed it. */
  secrets: Array<{ url: string; secret: string; isPrevious: boolean }>;
  /** The bytes that were sent with this id, when it is an event of the account. */
  sent?: string | undefined;
  /** The caller may read events. Without that scope it learns what was sent only for a call it has received, which a valid signature proves. */
  mayReadEvents: boolean;
  now?: number;
}

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
/** The clock difference in seconds that verifying libraries accept. */
const TOLERANCE_SECONDS = 5 * 60;
const SIGNATURE_FORM = /^v1,[A-Za-z0-9+/]{43}=$/;

export function diagnose({ headers, body, secrets, sent, mayReadEvents, now = agreedTime() }: Symptoms): Diagnosis {
  const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase().trim(), value.trim()]));
  const missing = NAMES.filter((name) => !given.get(name));
  const findings: Finding[] = [
    {
      check: 'headers',
      ok: missing.length === 0,
      message:
        missing.length === 0
          ? 'All three headers are there.'
          : `Missing: ${missing.join(', ')}. A proxy or framework in front of the receiver may drop or rename headers.`,
    },
  ];
  const [id = '', stamp = '', signature = ''] = NAMES.map((name) => given.get(name));
  if (stamp) findings.push(lookAtTimestamp(stamp, now));
  if (signature) findings.push(lookAtForm(signature));
  if (id) findings.push(lookAtEvent(sent));
  const signedAt = new Date(Number(stamp) * 1_000);
  if (missing.length > 0 || Number.isNaN(signedAt.getTime())) return { valid: false, findings };

  const signatures = signature.split(/\s+/);
  const signerOf = (bytes: string) => {
    const content = Buffer.from(`${id}.${Math.floor(signedAt.getTime() / 1_000)}.${bytes}`);
    return secrets.find(({ secret }) => signatures.includes(signatureOf(secret, content)));
  };
  const signer = signerOf(body);
  if (signer) {
    const which = signer.isPrevious ? 'the previous secret' : 'the secret';
    findings.push({ check: 'secret', ok: true, message: `Signed with ${which} of the endpoint ${signer.url}.` });
    findings.push({ check: 'body', ok: true, message: 'The body is what was signed, byte for byte.' });
    return { valid: true, findings };
  }
  return { valid: false, findings: [...findings, ...explainMismatch({ body, sent, mayReadEvents }, signerOf)] };
}

/** Computes a signature as Standard Webhooks defines it. The standard's own library hashes in JavaScript, too slow for a hundred secrets and a long body. */
function signatureOf(secret: string, content: Buffer): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}

function lookAtTimestamp(stamp: string, now: number): Finding {
  const check = 'timestamp';
  if (!/^\d+$/.test(stamp)) return { check, ok: false, message: 'webhook-timestamp must be whole seconds since 1970.' };
  if (stamp.length >= 13)
    return { check, ok: false, message: 'webhook-timestamp is in milliseconds; it must be in seconds.' };
  const age = Math.round(now / 1_000 - Number(stamp));
  const isFresh = Math.abs(age) <= TOLERANCE_SECONDS;
  const side = age >= 0 ? `${age} s old` : `${-age} s in the future`;
  return {
    check,
    ok: isFresh,
    message: isFresh
      ? `The call is ${side}, which verifiers accept.`
      : `The call is ${side} by now; verifiers accept ${TOLERANCE_SECONDS} s. If it was as old when it arrived, the receiver's clock is wrong.`,
  };
}

function lookAtForm(signature: string): Finding {
  const check = 'signature_form';
  const isGood = signature.split(/\s+/).some((part) => SIGNATURE_FORM.test(part));
  if (isGood) return { check, ok: true, message: 'webhook-signature has the form v1,<base64>.' };
  const hint = /^v1[,=]?[0-9a-f]{64}$/i.test(signature) ? ' It looks like hexadecimal.' : '';
  return { check, ok: false, message: `webhook-signature must be v1, a comma and base64 of 32 bytes.${hint}` };
}

function lookAtEvent(sent: string | undefined): Finding {
  return sent === undefined
    ? { check: 'event', ok: false, message: 'webhook-id is no event of this account: the call came from elsewhere.' }
    : { check: 'event', ok: true, message: 'webhook-id is an event of this account.' };
}

function explainMismatch(
  { body, sent, mayReadEvents }: Pick<Symptoms, 'body' | 'sent' | 'mayReadEvents'>,
  signerOf: (bytes: string) => unknown,
): Finding[] {
  const wrongSecret: Finding = {
    check: 'secret',
    ok: false,
    message:
      'No secret of the endpoint made this signature: another endpoint, another account, or a secret since replaced.',
  };
  if (sent === undefined) return [wrongSecret];
  if (sent === body)
    return [{ check: 'body', ok: true, message: 'The body is what was sent, byte for byte.' }, wrongSecret];
  const isSignedByUs = signerOf(sent) !== undefined;
  // Asked again and again, the place of the difference would reveal the whole body.
  const message = isSignedByUs || mayReadEvents ? describeChange(sent, body) : 'The body is not what was sent.';
  return [{ check: 'body', ok: false, message }, ...(isSignedByUs ? [] : [wrongSecret])];
}

function describeChange(sent: string, body: string): string {
  const [was, is] = [Buffer.from(sent), Buffer.from(body)];
  let at = 0;
  while (at < was.length && was[at] === is[at]) at += 1;
  const cause = causeOf(sent, body);
  return `The body is not what was sent: they differ from byte ${at} on (${was.length} bytes were sent, ${is.length} are given).${cause}`;
}

function causeOf(sent: string, body: string): string {
  if (body.trim() === sent) return ' Only blanks or line ends around it were added.';
  try {
    if (JSON.stringify(JSON.parse(body)) === JSON.stringify(JSON.parse(sent)))
      return ' It was parsed and written again: verify the raw bytes before any JSON parser touches them.';
  } catch {
    return ' It is not even JSON.';
  }
  return ' Its content was changed.';
}
