// The doctor's findings for each way a verification goes wrong.
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { diagnose } from '../../../services/gateway/webhooks/signature-doctor.ts';

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const old = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const foreign = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const sent = '{"type":"client.created","timestamp":"2026-11-02T09:30:00.000Z","data":{"name":"Zoë"}}';
const now = Date.parse('2026-11-02T09:30:10Z');
const signedAt = new Date('2026-11-02T09:30:00Z');
const secrets = [
  { url: 'https://example.com/hook', secret, isPrevious: false },
  { url: 'https://example.com/hook', secret: old, isPrevious: true },
];

const headersBy = (signer: string, body = sent) => ({
  'Webhook-Id': 'msg-1',
  'webhook-timestamp': String(signedAt.getTime() / 1_000),
  'WEBHOOK-SIGNATURE': new Webhook(signer).sign('msg-1', signedAt, body),
});

const look = (symptoms: Partial<Parameters<typeof diagnose>[0]>) =>
  diagnose({ headers: headersBy(secret), body: sent, secrets, sent, mayReadEvents: false, now, ...symptoms });
const faults = (diagnosis: ReturnType<typeof diagnose>) =>
  diagnosis.findings.filter(({ ok }) => !ok).map(({ check, message }) => `${check}: ${message}`);

test('when a call arrived unchanged, then it is valid and every finding is good', () => {
  expect(look({}).valid).toBe(true);
  expect(faults(look({}))).toEqual([]);
});

test('when the previous secret signed it, then it is valid and the finding names the secret', () => {
  const diagnosis = look({ headers: headersBy(old) });
  expect(diagnosis.valid).toBe(true);
  expect(diagnosis.findings.map(({ message }) => message).join()).toContain('previous secret');
});

test.each([
  [
    'headers are missing',
    { headers: { 'webhook-id': 'msg-1' } },
    'headers: Missing: webhook-timestamp, webhook-signature',
  ],
  [
    'the time is in milliseconds',
    { headers: { ...headersBy(secret), 'webhook-timestamp': `${now}` } },
    'timestamp: .*milliseconds',
  ],
  [
    'the time is not a number',
    { headers: { ...headersBy(secret), 'webhook-timestamp': 'now' } },
    'timestamp: .*whole seconds',
  ],
  ['the call is old', { now: now + 3_600_000 }, 'timestamp: The call is 3610 s old'],
  ['the call is from the future', { now: now - 3_600_000 }, 'timestamp: The call is 3590 s in the future'],
  [
    'the signature is hexadecimal',
    { headers: { ...headersBy(secret), 'WEBHOOK-SIGNATURE': `v1=${'ab'.repeat(32)}` } },
    'signature_form: .*hexadecimal',
  ],
  ['the signature is cut', { headers: { ...headersBy(secret), 'WEBHOOK-SIGNATURE': 'v1,' } }, 'signature_form: '],
  ['the id is no event', { sent: undefined }, 'event: .*no event of this account'],
  [
    'the body was written again',
    { body: JSON.stringify(JSON.parse(sent), null, 1) },
    'body: .*differ from byte 1 on.*parsed and written again',
  ],
  ['a line end was added', { body: `${sent}\n` }, 'body: .*line ends'],
  ['the encoding was changed', { body: Buffer.from(sent).toString('latin1') }, 'body: .*content was changed'],
  ['the body was cut', { body: sent.slice(0, 20) }, 'body: .*not even JSON'],
  ['another secret signed it', { headers: headersBy(foreign) }, 'secret: No secret'],
] as const)('when %s, then the finding says so', (_case, symptoms, expected) => {
  const found = faults(look(symptoms));
  expect(found.join('\n')).toMatch(new RegExp(expected));
});

test('when only the body was changed, then the secret is not blamed; when only the secret is wrong, then the body is not', () => {
  expect(faults(look({ body: `${sent} ` })).join()).not.toContain('secret');
  expect(faults(look({ headers: headersBy(foreign) })).join()).not.toContain('body');
});

test('when a caller guesses at a body, then it learns where the body differs only with events:read, or if it has received the call', () => {
  const guess = { body: sent.replace('Zoë', 'Zoe') };
  const forged = { headers: headersBy(foreign, guess.body) };
  const where = /differ from byte \d+/;

  expect(faults(look({ ...guess, ...forged })).join()).toMatch(/body: The body is not what was sent\.(,|$)/);
  expect(faults(look({ ...guess, ...forged, mayReadEvents: true })).join()).toMatch(where);
  expect(faults(look(guess)).join()).toMatch(where);
});
