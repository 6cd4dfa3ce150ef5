// A sample of random documents over HTTP: credited and billed in parts in any order, API, PDF, events and audits agree to the last unit.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import Big from 'big.js';
import fc from 'fast-check';
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { decimalsOf } from '#libs/rules/money/money.ts';
import { count, isSampled } from '../../support/form.ts';
import { type PrintingGateway, startPrintingGateway } from '../../support/gateway.ts';
import { openOwnAccount } from '../../support/own-account.ts';
import { creditSteps, LinesLeft, randomDocument } from '../../support/random-documents.ts';
import type { AnyRecord } from '../../support/records.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';

/** Fixed, so that every run is the same; another seed can be given. */
const SEED = Number(process.env['TEST_SEED'] ?? 20_261_127);
const DOCUMENTS = isSampled() ? 2 : 5;
const LIMIT_MS = 180_000;

let gateway: PrintingGateway;
let renderer: TestRenderer;
beforeAll(async () => {
  renderer = await startRenderer();
  gateway = await startPrintingGateway();
});
afterAll(async () => {
  await gateway.close();
  await renderer.close();
});

/** @param rounded a currency whose totals are rounded to 50 of its smallest units. */
async function studio(rounded?: string) {
  const settings = { currency: rounded, total_rounding: rounded && 50 / 10 ** decimalsOf(rounded) };
  const own = await openOwnAccount(gateway, rounded === undefined ? undefined : settings);
  const { api, post, get } = own;
  const { id: client_id } = await post('clients', { name: 'Ada', email: 'ada@example.com' });
  return {
    api,
    post,
    get,
    client_id,
    /** Paper and events say what the record says, and no audit finds anything. */
    async agree(path: string) {
      const record = await get(path);
      expect((await api.get(`/api/v1/${path}/pdf`)).status).toBe(200);
      const { text } = await renderer.read(gateway.printed() as PrintableDocument);
      expect(text.replaceAll(/\s/g, '')).toContain(written(payable(record), record.currency));
      for (const { tax } of record.taxes.filter((one: AnyRecord) => one.tax !== 0))
        expect(text.replaceAll(/\s/g, '')).toContain(written(tax, record.currency));
      await own.sound();
      return record;
    },
    sound: own.sound,
    async events(id: string) {
      const all = (await api.get('/api/v1/events?limit=100')).body.data as AnyRecord[];
      return all.filter(({ data }) => data.id === id);
    },
  };
}

/** The total with its rounding. */
const payable = ({ total, rounding_amount }: AnyRecord) => Number(new Big(total).plus(rounding_amount));

function written(amount: number, currency: string): string {
  const digits = decimalsOf(currency);
  return new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    Math.abs(amount),
  );
}

/** Sums of records by rate, without the noise of doubles. */
function byRate(records: readonly AnyRecord[]): Record<string, [number, number]> {
  const sums: Record<string, [Big, Big]> = {};
  for (const { rate, category, taxable, tax } of records.flatMap(({ taxes }) => taxes)) {
    const [net, taxes] = sums[`${rate} ${category}`] ?? [new Big(0), new Big(0)];
    sums[`${rate} ${category}`] = [net.plus(taxable), taxes.plus(tax)];
  }
  return Object.fromEntries(Object.entries(sums).map(([rate, [net, tax]]) => [rate, [Number(net), Number(tax)]]));
}

const samples = fc.sample(fc.tuple(randomDocument, creditSteps), { seed: SEED, numRuns: DOCUMENTS });

test.each([false, true])(
  'when invoices (rounded: %s) are credited by lines, pieces and amounts, then the credit notes sum to them everywhere',
  async (isRounded) => {
    for (const [document, steps] of samples) {
      const { api, post, get, client_id, agree, events, sound } = await studio(
        isRounded ? document.currency : undefined,
      );
      const body = { ...document, client_id, due_date: '2099-01-31', status: 'Sent' };
      const invoice = await post('invoices', body);
      const at = `invoices/${invoice.id}/credit-notes`;
      const left = new LinesLeft(document.line_items);
      for (const { kind, which, share } of steps) {
        const number = left.open[which % (left.open.length || 1)];
        const piece = number === undefined ? undefined : left.take(number, kind === 'piece' ? share : 1);
        const { amount } = await get(`invoices/${invoice.id}`);
        const part = Number(new Big(amount).times(share).div(3).round(decimalsOf(document.currency), Big.roundUp));
        const wanted = kind === 'amount' || !piece ? { amount: part } : { line_items: [piece.line] };
        const reply = await api.post(`/api/v1/${at}`, { reason: 'correction', ...wanted });
        expect([201, 400, 409]).toContain(reply.status);
        if (reply.status === 201 && 'line_items' in wanted) piece?.done();
      }
      if ((await get(`invoices/${invoice.id}`)).amount_due > 0) await post(at, { reason: 'correction' });
      const notes = (await api.get('/api/v1/credit-notes?limit=100')).body.data as AnyRecord[];
      // Where a total is rounded down, a last piece may be worth less than the rounding: nothing is due before it.
      if (!isRounded) expect(byRate(notes)).toEqual(byRate([invoice]));
      expect(Number(notes.reduce((sum, note) => sum.plus(payable(note)), new Big(0)))).toBe(payable(invoice));
      for (const { id } of notes) {
        const note = await agree(`credit-notes/${id}`);
        expect((await events(id)).at(-1)?.data).toEqual(note);
      }
      const last = await agree(`invoices/${invoice.id}`);
      expect(last).toMatchObject({ status: 'Cancelled', total_credited: payable(invoice), amount_due: 0 });
      expect((await events(invoice.id)).at(-1)?.data).toEqual(last);
      await sound();
      count('documents credited', 1);
    }
  },
  LIMIT_MS,
);

test(
  'when quotes are billed in parts of which one is corrected, then the parts sum to them everywhere',
  async () => {
    for (const [document] of samples) {
      const { api, post, get, client_id, agree, sound } = await studio();
      const { total, amount } = await post('invoices', { ...document, client_id, due_date: '2099-01-31' });
      const quoted = document.prices_include_tax ? total : amount;
      const quote = await post('quotes', { ...document, client_id, amount: quoted });
      const convert = (body: object) => post(`quotes/${quote.id}/convert`, { accept: true, status: 'Sent', ...body });
      const deposit = await convert({ part: 'deposit', percent: 40 });
      const half = Number(new Big(deposit.amount).div(2).round(decimalsOf(document.currency), Big.roundUp));
      await post(`invoices/${deposit.id}/credit-notes`, { reason: 'correction', amount: half });
      await convert({ part: 'progress', percent: 20 });
      const final = await convert({ part: 'final' });
      await agree(`invoices/${final.id}`);
      await post(`invoices/${final.id}/credit-notes`, { reason: 'cancellation' });
      await convert({ part: 'final' });
      expect((await get(`quotes/${quote.id}`)).left_to_bill).toBe(0);
      const invoices = (await api.get('/api/v1/invoices?limit=100&status=Sent,Paid,Cancelled')).body
        .data as AnyRecord[];
      const notes = (await api.get('/api/v1/credit-notes?limit=100')).body.data as AnyRecord[];
      const agreed = (records: readonly AnyRecord[]) =>
        Object.fromEntries(
          Object.entries(byRate(records)).map(([rate, [net, tax]]) => [
            rate,
            Number(new Big(net).plus(document.prices_include_tax ? tax : 0)),
          ]),
        );
      const [billed, credited] = [agreed(invoices), agreed(notes)];
      for (const [rate, sum] of Object.entries(agreed([quote])))
        expect([rate, Number(new Big(billed[rate] ?? 0).minus(credited[rate] ?? 0))]).toEqual([rate, sum]);
      await sound();
      count('quotes billed in parts', 1);
    }
  },
  LIMIT_MS,
);

test(
  'when a fixed amount is billed in parts, of which each is corrected in part, then all of it is billed once',
  async () => {
    for (const [{ currency, tax_rate }, steps] of samples) {
      const { api, post, get, client_id, agree, sound } = await studio();
      const fixed = { client_id, name: 'Mill', billing: 'fixed', fixed_amount: 1_000, currency };
      const { id } = await post('projects', fixed);
      const left = async (): Promise<number> => (await get(`projects/${id}`)).left_to_bill;
      const bill = async (body: object) => {
        const { status, body: answer } = await api.post(`/api/v1/projects/${id}/bill`, {
          status: 'Sent',
          tax_rate,
          ...body,
        });
        expect([201, 409]).toContain(status);
        return answer.data as AnyRecord | undefined;
      };
      for (const { share } of steps.slice(0, 5)) {
        const part = await bill({ percent: Math.max(1, Math.round(share * 40)) });
        if (part)
          await post(`invoices/${part.id}/credit-notes`, {
            reason: 'correction',
            amount: Math.ceil(part.amount * share),
          });
      }
      if ((await left()) > 0) await agree(`invoices/${(await bill({}))?.id}`);
      expect(await left()).toBe(0);
      const invoices = (await api.get('/api/v1/invoices?limit=100')).body.data as AnyRecord[];
      const notes = (await api.get('/api/v1/credit-notes?limit=100')).body.data as AnyRecord[];
      const sum = (records: readonly AnyRecord[]) => records.reduce((all, { amount }) => all.plus(amount), new Big(0));
      expect(Number(sum(invoices).minus(sum(notes)))).toBe(1_000);
      await sound();
      count('fixed amounts billed in parts', 1);
    }
  },
  LIMIT_MS,
);
