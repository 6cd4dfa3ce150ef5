// Days and moments in every notation, in every field and parameter for them: only real calendar days are accepted.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dayIn } from '#libs/day.ts';
import { count, every, isFull, sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { parametersOf } from '../../support/route-table.ts';
import { callable, type Field, fields, nameOf, senderOf } from './json-fields.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const print = () => Promise.resolve({ bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] });
  gateway = await startGateway({ print: print as never });
});
afterAll(() => gateway.close());

const REAL = [
  '0001-01-01',
  '0099-12-31',
  '0100-02-28',
  '0400-02-29',
  '1582-10-10',
  '1752-09-05',
  '1899-12-31',
  '1900-02-28',
  '1969-12-31',
  '1970-01-01',
  '1999-12-31',
  '2000-02-29',
  '2024-02-29',
  '2026-01-31',
  '2026-02-28',
  '2026-12-31',
  '2028-02-29',
  '2038-01-20',
  '2100-02-28',
  '9999-12-31',
];
const UNREAL = [
  '0000-00-00',
  '0000-01-01',
  '0000-12-31',
  '1900-02-29',
  '2023-02-29',
  '2026-02-29',
  '2026-02-30',
  '2026-02-31',
  '2026-04-31',
  '2026-06-31',
  '2026-09-31',
  '2026-11-31',
  '2026-01-32',
  '2026-01-00',
  '2026-00-01',
  '2026-13-01',
  '2026-99-99',
  '2100-02-29',
  '26-01-01',
  '226-01-01',
  '02026-01-01',
  '12026-01-01',
  '+002026-01-01',
  '-2026-01-01',
  '2026-1-1',
  '2026-1-01',
  '2026-01-1',
  '2026-001',
  '2026-366',
  '2026-W01',
  '2026-W01-1',
  '2026W011',
  '20260101',
  '2026-01',
  '2026',
  '01-01-2026',
  '31-12-2026',
  '12/31/2026',
  '31/12/2026',
  '2026/01/01',
  '2026.01.01',
  '2026-01-01T00:00:00',
  '2026-01-01T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:00:00+14:00',
  '2026-01-01 00:00:00',
  '2026-01-01Z',
  '2026-01-01+02:00',
  ' 2026-01-01',
  '2026-01-01 ',
  '\t2026-01-01',
  '2026-01-01\n',
  '2026-01-01\u0000',
  '\ufeff2026-01-01',
  '2026 -01-01',
  '2026–01–01',
  '2026−01−01',
  '٢٠٢٦-٠١-٠١',
  '２０２６-０１-０１',
  '२०२६-०१-०१',
  '1e3-01-01',
  '0x7e-01-01',
  '2026-0x-01',
  'yyyy-mm-dd',
  'today',
  'tomorrow',
  'now',
  '1 January 2026',
  'Thu Jan 01 2026',
  '1767225600',
  '1767225600000',
  'null',
  'undefined',
  'NaN',
  'Invalid Date',
  '9999-12-32',
  '10000-01-01',
  '275760-09-13',
  '2026-01-01'.repeat(50),
];
const OTHER_TYPES = ['0', '20260101', '1767225600000', 'true', '[]', '["2026-01-01"]', '{}', '{"$date":"2026-01-01"}'];
const STEP = isFull ? 1 : 10;

const isDayField = ({ path, shape }: Field) =>
  shape.type === 'day' || /^(date|dueDate|expiryDate)$/.test(String(path.at(-1)));
const days = fields.filter(isDayField);
const parameters = callable.flatMap((row) =>
  Object.entries(parametersOf(row) as Record<string, { type?: string }>)
    .filter(([, { type }]) => type === 'day')
    .map(([name]) => [row.operation, name, row] as const),
);

/** Parameters that name a day on which something was due. */
const OF_DEBTS = new Set(['as_of', 'from', 'to']);

test('when the corpus is counted, then it has 80 days for at least 7 fields', () => {
  expect(new Set([...REAL, ...UNREAL]).size).toBeGreaterThanOrEqual(80);
  expect(days.length + parameters.length).toBeGreaterThanOrEqual(7);
});

/** Any day but the one that is due is 409. */
const OF_SCHEDULE = ['runRecurringInvoice', 'skipOccurrence'];
/** A call that succeeds leaves nothing to bill for the next one, which gets 409. */
const ONCE = new Set(['createInvoiceFromTime', 'addTimeToInvoice', ...OF_SCHEDULE]);
/** Payments and refunds cannot be dated in the future. */
const OF_MONEY = new Set(['createPayment', 'payInvoice', 'refundPayment', 'refundCreditNote']);
/** Their response is the record that is refunded. */
const REFUNDS = new Set(['refundPayment', 'refundCreditNote']);

/** Returns the value that the record has where the body has the field. */
const at = (record: unknown, path: readonly (string | number)[]) =>
  path.reduce((part, name) => (part as Record<string | number, unknown>)[name], record);

describe.each(sampled(days).map((field, index) => [nameOf(field), field, index] as const))(
  '%s',
  (_name, field, index) => {
    test('when it is a real calendar day, then it is returned as it was sent, in years 1 to 9999', async () => {
      // Other tests issue documents in this account, with later dates, and lock its time.
      await gateway.patch('/api/v1/account', { allow_backdating: true, time_locked_before: null });
      const sender = await senderOf(gateway, field.row);
      const real = every(REAL, STEP, index);
      const { operation } = field.row;
      // A document is not issued in the future, and time is billed up to today.
      const isPast = ['issue_date', 'date_from'].includes(String(field.path[0])) || OF_MONEY.has(operation);
      const possible = real.filter((day) => !isPast || day <= dayIn('UTC'));
      for (const day of possible) {
        const reply = await sender.send(sender.bodyWith(field, JSON.stringify(day)));
        const isSpent = reply.status === 409 && ONCE.has(operation);
        // The money that is refunded here came today. The day was read, and is too early.
        const isEarly =
          REFUNDS.has(operation) && String(reply.body.details?.date).startsWith('date must not be before');
        expect([day, reply.status < 300 || isSpent || isEarly, reply.status]).toEqual([day, true, reply.status]);
        if (ONCE.has(operation) || isEarly) continue;
        const { data } = reply.body as { data?: Record<string, unknown> };
        const refunds = data?.['refunds'] as Record<string, unknown>[] | undefined;
        const shown = REFUNDS.has(operation) ? refunds?.at(-1) : data;
        if (shown) expect(at(shown, field.path)).toBe(day);
      }
      count('dates', real.length);
    });

    test('when it is anything else, then 400', async () => {
      const sender = await senderOf(gateway, field.row);
      const wrong = [
        ...every(UNREAL, STEP, index).map((text) => JSON.stringify(text)),
        ...every(OTHER_TYPES, STEP, index),
      ];
      for (const literal of wrong) {
        const reply = await sender.send(sender.bodyWith(field, literal));
        expect([literal.slice(0, 60), reply.status]).toEqual([literal.slice(0, 60), 400]);
        expectRefusal(reply, literal);
      }
      count('dates', wrong.length);
    });
  },
);

describe.each(sampled(parameters).map(([operation, name, row], index) => [operation, name, row, index] as const))(
  '%s by %s',
  (_operation, name, row, index) => {
    test('when it is a real calendar day, then a list; when it is anything else, then 400', async () => {
      const { sendTo } = await senderOf(gateway, row);
      for (const [texts, status] of [
        // The debt on a later day is not known.
        [every(REAL, STEP, index).filter((day) => !OF_DEBTS.has(name) || day <= dayIn('UTC')), 200],
        [every(UNREAL, STEP, index), 400],
      ] as const) {
        for (const text of texts) {
          expect([text, (await sendTo(`${name}=${encodeURIComponent(text)}`)).status]).toEqual([text, status]);
        }
        count('dates', texts.length);
      }
    });
  },
);

/** Moments in the past: an expiry has to lie ahead. */
const MOMENTS = [
  '2026-01-01',
  '2026-01-01T00:00Z',
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00:00.123456789Z',
  '2026-01-01T00:00:00+14:00',
  '2026-01-01T23:59-12:00',
  '0001-01-01T00:00:00Z',
];
const NO_MOMENTS = [
  '',
  '2026-01-01T00:00:00',
  '2026-01-01T25:00:00Z',
  '2026-01-01T23:60:00Z',
  '2026-01-01T23:59:60Z',
  '2026-01-01T00:00:00+25:00',
  '2026-01-01T00Z',
  '2026-02-30T00:00:00Z',
  '2026-W01-1T00:00:00Z',
  '2026-01-01T00:00:00z',
  '2026-01-01t00:00:00Z',
  '2026-01-01T00:00:00 Z',
  '20260101T000000Z',
  '2026-01-01T00:00:00.Z',
  '2026-01-01T00:00:00,5Z',
  '1767225600',
  'now',
  '٢٠٢٦-٠١-٠١T00:00:00Z',
  '+012026-01-01T00:00:00Z',
  'Thu, 01 Jan 2026 00:00:00 GMT',
  '2026-01-01T00:00:00Z/P1D',
];
const moments = callable.flatMap((row) =>
  Object.entries(parametersOf(row) as Record<string, { type?: string }>)
    .filter(([, { type }]) => type === 'instant')
    .map(([name]) => [row.operation, name, row] as const),
);

describe.each(sampled(moments))('%s by %s', (_operation, name, row) => {
  test('when it is a moment with its zone, or a day, then a list; when it is anything else, then 400', async () => {
    const { sendTo } = await senderOf(gateway, row);
    for (const [texts, status] of [
      [MOMENTS, 200],
      [NO_MOMENTS, 400],
    ] as const) {
      for (const text of texts) {
        expect([text, (await sendTo(`${name}=${encodeURIComponent(text)}`)).status]).toEqual([text, status]);
      }
      count('dates', texts.length);
    }
  });
});
