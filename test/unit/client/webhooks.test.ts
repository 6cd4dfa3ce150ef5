// Webhook calls signed by the library that the gateway uses are verified by the package.
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookVerificationError } from '../../../client/webhooks.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const former = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const body = JSON.stringify({ type: 'client.created', timestamp: '2026-11-21T17:27:59.402Z', data: { name: 'Zoë' } });

function signed({ by = [secret], at = new Date(), text = body }: { by?: string[]; at?: Date; text?: string } = {}) {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': by.map((key) => new Webhook(key).sign('msg_1', at, text)).join(' '),
  };
}

test.each([
  ['text', body],
  ['bytes', new TextEncoder().encode(body)],
  ['a buffer', new TextEncoder().encode(body).buffer],
  ['a part of a larger buffer', Buffer.from(`..${body}`).subarray(2)],
])('when the body is %s, then the event comes out', async (_form, given) => {
  expect(await verifyWebhook(given, signed(), secret)).toEqual(JSON.parse(body));
});

test.each([
  ['of fetch', new Headers(signed())],
  [
    'in capitals',
    {
      'Webhook-Id': 'msg_1',
      'WEBHOOK-TIMESTAMP': signed()['webhook-timestamp'],
      'Webhook-Signature': signed()['webhook-signature'],
    },
  ],
])('when headers are %s, then they are found', async (_form, headers) => {
  await expect(verifyWebhook(body, headers, secret)).resolves.toMatchObject({ type: 'client.created' });
});

test('when the gateway signs with two secrets, then either verifies, and so does one of several that are known', async () => {
  const headers = signed({ by: [secret, former] });

  for (const known of [secret, former, [`whsec_${Buffer.alloc(32, 9).toString('base64')}`, former]]) {
    await expect(verifyWebhook(body, headers, known)).resolves.toBeDefined();
  }
});

test('when a call is older or newer than the tolerance, then it is rejected', async () => {
  for (const seconds of [-301, 360]) {
    const headers = signed({ at: new Date(Date.now() + seconds * 1000) });
    await expect(verifyWebhook(body, headers, secret)).rejects.toMatchObject({ code: 'outside_tolerance' });
    await expect(verifyWebhook(body, headers, secret, { tolerance: 600 })).resolves.toBeDefined();
  }
});

test.each([
  ['a changed body', `${body} `, signed(), secret, 'wrong_signature'],
  ['another secret', body, signed(), former, 'wrong_signature'],
  ['another id', body, { ...signed(), 'webhook-id': 'msg_2' }, secret, 'wrong_signature'],
  [
    'a signature cut short',
    body,
    { ...signed(), 'webhook-signature': signed()['webhook-signature'].slice(0, 20) },
    secret,
    'wrong_signature',
  ],
  [
    'a signature of another version',
    body,
    { ...signed(), 'webhook-signature': signed()['webhook-signature'].replace('v1', 'v9') },
    secret,
    'wrong_signature',
  ],
  ['no signature', body, { ...signed(), 'webhook-signature': '' }, secret, 'missing_header'],
  ['no id', body, { ...signed(), 'webhook-id': undefined }, secret, 'missing_header'],
  ['a timestamp of another form', body, { ...signed(), 'webhook-timestamp': '1e9' }, secret, 'malformed_header'],
  ['a secret that is none', body, signed(), 'whsec_§', 'malformed_secret'],
  ['an empty secret', body, signed(), 'whsec_', 'malformed_secret'],
  ['no secret', body, signed(), undefined, 'malformed_secret'],
  ['a body that is no JSON', 'ping', signed({ text: 'ping' }), secret, 'malformed_body'],
])('when there is %s, then the call is rejected', async (_name, given, headers, key, code) => {
  const rejected = verifyWebhook(given, headers, key);

  await expect(rejected).rejects.toBeInstanceOf(WebhookVerificationError);
  await expect(rejected).rejects.toMatchObject({ code });
});
