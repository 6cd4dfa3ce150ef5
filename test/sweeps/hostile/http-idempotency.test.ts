// One Idempotency-Key has one effect on every POST that writes: at once, again, with another body, from another account, after a rejection.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Idempotency } from '#libs/models/idempotency-record.ts';
import { count, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { callable, senderOf } from './json-fields.ts';

/** They store nothing, so there is nothing to do twice. */
const WITHOUT_EFFECT = new Set(['generatePdf', 'diagnoseSignature', 'readEInvoice', 'previewMailTemplate']);
const AT_ONCE = 12;
const BAD_KEYS = ['', 'x'.repeat(256), 'with blank'];

const posts = callable.filter(({ method, operation }) => method === 'post' && !WITHOUT_EFFECT.has(operation));

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe.each(sampled(posts).map((row) => [row.operation, row] as const))('%s', (operation, row) => {
  const headers = { 'Idempotency-Key': `key-${operation}` };

  test('when one key is sent many times at once and again, then there is one effect and one response', async () => {
    const account = await gateway.workspace.account();
    const { send } = await senderOf(gateway, row, account);
    const raw = row.body ? undefined : '';
    const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => send(raw, headers)));
    const again = await send(raw, headers);

    const served = replies.filter(({ status }) => status < 300);
    expect(served.length).toBeGreaterThan(0);
    // A request that arrives while the first one is running gets 409.
    expect(replies.filter(({ status }) => status >= 300 && status !== 409).map(({ status }) => status)).toEqual([]);
    expect([again.status < 300, again.headers.get('Idempotent-Replayed')]).toEqual([true, 'true']);
    const idOf = ({ body }: (typeof replies)[number]) => body.data?.id ?? JSON.stringify(body.data);
    expect(new Set([...served, again].map(idOf)).size).toBe(1);
    expect(served.filter((reply) => reply.headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
    expect(await Idempotency.countDocuments({ account_id: account.id })).toBe(1);
    count('idempotency cases', AT_ONCE + 1);
  });

  test('when the key is sent with another request, then 422; when from another account, then an effect of its own', async () => {
    const [one, two] = [await gateway.workspace.account(), await gateway.workspace.account()];
    const mine = await senderOf(gateway, row, one);
    const theirs = await senderOf(gateway, row, two);
    const raw = row.body ? undefined : '';
    const first = await mine.send(raw, headers);
    const another = await mine.send(row.body ? mine.bodyAnd({ unknown: 1 }) : '{"unknown":1}', headers);
    const other = await theirs.send(raw, headers);

    expect([first.status < 300, other.status]).toEqual([true, first.status]);
    expect(other.headers.get('Idempotent-Replayed')).toBeNull();
    // Where no body is read, another body is not another request.
    if (row.body) expectRefusal(another, '422');
    if (row.body) expect(another.status).toBe(422);
    count('idempotency cases', 3);
  });

  test('when the request was rejected, or the key is invalid, then the key is not used up', async () => {
    const account = await gateway.workspace.account();
    const { send } = await senderOf(gateway, row, account);
    const raw = row.body ? undefined : '';
    if (row.body) expectRefusal(await send('{"":', headers), operation);
    for (const key of BAD_KEYS) {
      const reply = await send(raw, { 'Idempotency-Key': key });
      expect([key.slice(0, 10), reply.status]).toEqual([key.slice(0, 10), 400]);
    }
    const reply = await send(raw, headers);
    expect([reply.status < 300, reply.headers.get('Idempotent-Replayed')]).toEqual([true, null]);
    count('idempotency cases', 5);
  });
});
