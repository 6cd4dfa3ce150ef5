// Bodies that once let one account slow down all others, on every operation that takes one and in each of its fields.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppError } from '#libs/errors.ts';
import { count, every, isFull, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { HOSTILE_DOCUMENTS, HOSTILE_JSON, HOSTILE_TEXTS } from '../../support/hostile-bodies.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { storedCounts } from '../../support/stored.ts';
import { fields, nameOf, senderOf, writes } from './json-fields.ts';

/** The response of a gateway whose renderers are all busy: a body that gets it has passed every check. */
const BUSY = 503;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    print: () => Promise.reject(new AppError('printing_unavailable', 'No renderer is free')),
  });
});
afterAll(() => gateway.close());

/** Each operation tries one of this many cases; the full form tries all. */
const STEP = isFull ? 1 : 12;

describe.each(sampled(writes).map((row, index) => [row.operation, row, index] as const))(
  '%s',
  (_operation, row, index) => {
    test('when a body is made to be slow, then JSON is rejected, and texts are stored or rejected, without an internal error', async () => {
      const { send, bodyWith } = await senderOf(gateway, row);
      const before = await storedCounts();
      for (const { name, body } of HOSTILE_JSON) expectRefusal(await send(body()), name);
      expect(await storedCounts()).toEqual(before);

      const own = fields.filter((field) => field.row === row);
      const cases = own.flatMap((field) => HOSTILE_TEXTS.map(({ name, text }) => ({ field, name, text })));
      const tried = every(cases, STEP, index);
      for (const { field, name, text } of tried) {
        const reply = await send(bodyWith(field, JSON.stringify(text)));
        const what = `${nameOf(field)}: ${name}`;
        if (reply.status >= 400 && reply.status !== BUSY) expectRefusal(reply, what);
        else if (![200, 201, 202, BUSY].includes(reply.status)) throw new Error(`${what}: ${reply.status}`);
      }
      count('hostile bodies', HOSTILE_JSON.length + tried.length);
    });
  },
);

test.each(sampled(HOSTILE_DOCUMENTS).map((one) => [one.name, one] as const))(
  'when the PDF tool gets %s, then it is rejected or passed on to a renderer',
  async (_name, { body }) => {
    const reply = await gateway.call('POST', '/api/tools/generate-pdf', { raw: body() });

    expect([400, 422, BUSY]).toContain(reply.status);
  },
);
