// One Idempotency-Key has one effect on every POST that writes: at once, again, with another body, from another account, after a rejection.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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

test.each(sampled(posts).map((row) => [row.operation, row] as const))(
  'when one key of %s is sent in every way, then each account gets one effect and one response',
  async (operation, row) => {
    const [account, another] = [await gateway.workspace.account(), await gateway.workspace.account()];
    const { send, bodyAnd } = await senderOf(gateway, row, account);
    const headers = { 'Idempotency-Key': `key-${operation}` };
    const raw = row.body ? undefined : '';

    // A rejected request does not use the key up.
    if (row.body) expectRefusal(await send('{"":', headers), operation);
    for (const key of BAD_KEYS) {
      const reply = await send(raw, { 'Idempotency-Key': key });
      expect([key.slice(0, 10), reply.status]).toEqual([key.slice(0, 10), 400]);
    }

    const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => send(raw, headers)));
    const again = await send(raw, headers);
    const served = replies.filter(({ status }) => status < 300);
    expect(served.length).toBeGreaterThan(0);
    // A request that arrives while the first one is running gets 409.
    expect(replies.filter(({ status }) => status >= 300 && status !== 409).map(({ status }) => status)).toEqual([]);
    expect([again.status < 300, again.headers.get('Idempotent-Replayed')]).toEqual([true, 'true']);
    const idOf = ({ body }: (typeof replies)[number]) => body.data?.id ?? JSON.stringify(body.data);
    expect(new Set([...served, again].map(idOf)).size).toBe(1);
    const first = served.filter((reply) => reply.headers.get('Idempotent-Replayed') === null);
    expect(first).toHaveLength(1);
    expect(await Idempotency.countDocuments({ account_id: account.id })).toBe(1);

    // Where no body is read, another body is not another request.
    const changed = await send(row.body ? bodyAnd({ unknown: 1 }) : '{"unknown":1}', headers);
    if (row.body) expectRefusal(changed, '422');
    if (row.body) expect(changed.status).toBe(422);

    const theirs = await (await senderOf(gateway, row, another)).send(raw, headers);
    expect([theirs.status, theirs.headers.get('Idempotent-Replayed')]).toEqual([first[0]?.status, null]);
    count('idempotency cases', AT_ONCE + BAD_KEYS.length + 4);
  },
);
