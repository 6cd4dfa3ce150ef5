// A body in which every field is wrong, for every operation that takes one: all of them are named at once, and nothing is stored.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { storedId } from '#libs/models/tenant.ts';
import { count, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { TestAccount } from '../../support/workspace.ts';
import { type Field, fields, senderOf, writes } from './json-fields.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** A value of the wrong type for the field. */
const wrongFor = ({ shape }: Field) => (shape.type === 'object' || shape.type === 'array' ? 'wrong' : {});
/** Collections that every request writes to. */
const NOT_OF_WRITES = new Set(['api_keys']);

test.each(sampled(writes).map((row) => [row.operation, row] as const))(
  'when every field of %s is wrong, then 400 names each of them and nothing is stored',
  async (operation, row) => {
    const sender = await senderOf(gateway, row);
    const own = fields.filter((field) => field.row.operation === operation && field.path.length === 1);
    const wrong = own.filter(({ shape }) => shape.type !== 'any');
    const body = Object.fromEntries(wrong.map((field) => [field.path[0], wrongFor(field)]));
    const before = await storedOf(gateway.account);
    const reply = await sender.send(JSON.stringify(body));

    expect([reply.status, reply.body.error]).toEqual([400, 'Validation failed']);
    const { details } = reply.body as { details: string[] | Record<string, string[]> };
    const reported = Array.isArray(details) ? details : Object.keys(details);
    const unnamed = Object.keys(body).filter(
      (name) => !reported.some((text) => new RegExp(`\\b${name}\\b`).test(text)),
    );
    expect(unnamed).toEqual([]);
    // No record, document number or event.
    expect(await storedOf(gateway.account)).toEqual(before);
    count('bodies with every field wrong', 1);
  },
);

test('when the operations are listed, then those that move time and money are among them', () => {
  const names = writes.map(({ operation }) => operation);
  expect(names).toEqual(
    expect.arrayContaining([
      ...['createPayment', 'payInvoice', 'allocatePayment', 'releasePayment', 'voidPayment', 'refundPayment'],
      ...['writeOffInvoice', 'createInvoiceFromTime', 'addTimeToInvoice', 'releaseTimeFromInvoice'],
      ...['settleTimeEntries', 'convertQuote', 'billProject', 'settleExpenses', 'startTimer', 'stopTimer'],
    ]),
  );
});

async function storedOf({ id }: TestAccount): Promise<Record<string, string>> {
  const { db } = mongoose.connection;
  const names = ((await db?.listCollections({}, { nameOnly: true }).toArray()) ?? []).map(({ name }) => name);
  const own = { $or: [{ account_id: storedId(id) }, { _id: storedId(id) }] } as object;
  const rows = names
    .filter((name) => !NOT_OF_WRITES.has(name))
    .map(async (name) => [name, JSON.stringify(await db?.collection(name).find(own).sort({ _id: 1 }).toArray())]);
  return Object.fromEntries(await Promise.all(rows));
}
