// Naughty texts through the API and in documents: stored and returned unchanged or rejected, printed literally, never executed.
// HOSTILE_FULL=1 tries every text in every field and prints each by itself.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PdfDocument } from '#libs/jobs/pdf-document.ts';
import { isPlainLine, isPlainName } from '#libs/printable.ts';
import { sampled } from '../../support/form.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { bodyFor } from '../../support/operations.ts';
import { aQuote } from '../../support/renderer/documents.ts';
import { startRenderer, type TestRenderer } from '../../support/renderer/renderer.ts';
import { fieldsOf, routeTable } from '../../support/route-table.ts';
import { isFull, isText, naughtyStrings, sliceOf } from './strings-naughty.ts';

const LIMIT_MS = isFull ? 1_800_000 : 300_000;
const TRIES = 4;
const AT_ONCE = 4;

let gateway: TestGateway;
let renderer: TestRenderer;
beforeAll(async () => {
  [gateway, renderer] = await Promise.all([startGateway(), startRenderer()]);
});
afterAll(async () => {
  // Either of them may have failed to start.
  await (renderer as TestRenderer | undefined)?.close();
  await (gateway as TestGateway | undefined)?.close();
});

const creates = routeTable.filter(
  ({ method, path, body }) => method === 'post' && body && /^\/api\/v1\/[\w-]+$/.test(path),
);
const ONE_LINE = ['name', 'line'];
const isOfWords = (type: string) => type === 'text' || ONE_LINE.includes(type);
const LINE_BREAK = /[\n\r\u2028\u2029]/;
/** A rule besides these, such as email, pattern or custom, makes the form of a field stricter than any text. */
const LENGTHS = ['min', 'max'];
/** Fields with another rule in their handler. */
const CHECKED_LATER = ['createProject.status'];
const textFieldsOf = (row: (typeof creates)[number]) =>
  Object.entries(fieldsOf(row))
    .filter(
      ([name, { type, rules = [] }]) =>
        isOfWords(type) &&
        !CHECKED_LATER.includes(`${row.operation}.${name}`) &&
        rules.every((rule) => LENGTHS.includes(rule.name)),
    )
    .map(([name, { type }]) => ({ name, isName: type === 'name', isOneLine: ONE_LINE.includes(type) }));
const STRICTER =
  'These fields must accept any text. A field of a stricter form needs a joi rule or a kind of its own, such as webUrl() in services/gateway/fields';
const withTexts = creates.filter((row) => textFieldsOf(row).length > 0);

async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>) {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}

test('when the list is read, then it is long, and every kind of record has text fields to try it on', () => {
  expect(naughtyStrings.length).toBeGreaterThan(500);
  expect(withTexts.map(({ operation }) => operation)).toEqual(
    expect.arrayContaining([
      'addClient',
      'createProject',
      'createTask',
      'createTimeEntry',
      'createQuote',
      'createInvoice',
    ]),
  );
});

describe.each(sampled(withTexts).map((row, slice) => [row.operation, row, slice] as const))(
  '%s',
  (operation, row, slice) => {
    const fields = textFieldsOf(row);

    test(
      `when its texts (${fields.map(({ name }) => name).join(', ')}) are naughty, then they are returned as they were sent, or rejected`,
      async () => {
        const failures: string[] = [];
        const wanted = (await bodyFor(gateway, operation, gateway.account)) ?? {};
        // Every text in two kinds of records; the full form tries each in all fields of all kinds.
        const texts = sampled(sliceOf(slice, withTexts.length / 2), 4);
        const tries = isFull
          ? texts.flatMap((text) => fields.map((field) => ({ text, places: [field] })))
          : texts.map((text) => ({ text, places: fields }));
        await each(tries, async ({ text, places }) => {
          const names = places.map(({ name }) => name);
          const sent = Object.fromEntries(names.map((name) => [name, text]));
          const reply = await gateway.post(row.path, { ...wanted, ...sent });
          const about = `${JSON.stringify(text).slice(0, 60)} in ${names.join()}`;
          const hasName = places.some(({ isName }) => isName);
          const isBlankName = text.trim() === '' && hasName;
          // They share a line with other texts: characters that would reverse the rest of it are rejected.
          const isNoName = places.some(({ isName, isOneLine }) =>
            isName ? !isPlainName(text) : isOneLine && !isPlainLine(text),
          );
          const isBroken = LINE_BREAK.test(text.trim()) && places.some(({ isOneLine }) => isOneLine);
          if (!isText(text) || isBlankName || isNoName || isBroken) {
            // An empty text may count as missing, where the field is optional.
            const isFine = reply.status === 400 || (text === '' && reply.status === 201);
            if (!isFine) failures.push(`${about}: ${reply.status}`);
            return;
          }
          // A few fields allow less than the longest of these.
          if (reply.status === 400 && text.length > 200) return;
          if (reply.status !== 201)
            return void failures.push(`${about}: ${reply.status} ${JSON.stringify(reply.body)}. ${STRICTER}`);
          const { body } = await gateway.get(`${row.path}/${reply.body.data.id}`);
          for (const { name, isOneLine } of places) {
            const kept = text.trim() === '' ? undefined : isOneLine ? text.trim() : text;
            if ((body.data[name] ?? undefined) !== kept)
              failures.push(`${about}: ${name} is ${JSON.stringify(body.data[name])}`);
          }
          // An account may have only a limited number of these.
          if (['createWebhook', 'createApiKey'].includes(operation))
            await gateway.delete(`${row.path}/${reply.body.data.id}`);
        });
        expect(failures).toEqual([]);
      },
      LIMIT_MS,
    );
  },
);

test(
  'when a list is searched for a naughty text, then the response is a list, or the text is rejected',
  async () => {
    const failures: string[] = [];
    await each(sliceOf(3, 8), async (text) => {
      const reply = await gateway.get(`/api/v1/clients?q=${encodeURIComponent(text.toWellFormed())}`);
      // The longest ones make a URL that is too long.
      const isTooLong = reply.status === 431 && text.length > 1_000;
      if (![200, 400].includes(reply.status) && !isTooLong)
        failures.push(`${JSON.stringify(text).slice(0, 60)}: ${reply.status}`);
    });
    expect(failures).toEqual([]);
  },
  LIMIT_MS,
);

/** The texts of a document. */
const PLACES = [
  'notes',
  'terms',
  'quoteIntro',
  'bodyMarkdown',
  'number',
  'clientName',
  'clientEmail',
  'clientCompany',
  'partnerName',
  'partnerEmail',
  'partnerCompany',
  'poNumber',
] as const;
/** Fields that are printed by themselves and in one piece. */
const READABLE = new Set<string>(['notes', 'terms', 'quoteIntro', 'clientEmail', 'partnerEmail']);
const isPlain = (text: string) => /^[\x20-\x7e]+$/.test(text) && text.trim() !== '';
/** Prints again after a timeout, because the machine may be busy with other suites. */
async function printed(document: PdfDocument) {
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      return await renderer.read(document, { deadlineMs: 60_000 });
    } catch (error) {
      const { status } = error as { status?: number };
      if (left === 0 || (status !== 503 && status !== 504)) throw error;
    }
  }
}

const squeezed = (text: string) => text.replaceAll(/\s+/g, '');

test(
  'when documents are made of naughty texts, then each is printed, plain ones literally, and nothing is executed',
  async () => {
    const texts = naughtyStrings.filter((text) => isText(text) && text.length <= 2_000);
    const perDocument = isFull ? 1 : PLACES.length;
    const documents = Array.from({ length: Math.ceil(texts.length / perDocument) }, (_none, index) =>
      texts.slice(index * perDocument, (index + 1) * perDocument),
    );
    expect(documents.length).toBeGreaterThan(isFull ? 500 : 40);
    const failures: string[] = [];
    await each(sampled([...documents.entries()], 12), async ([index, some]) => {
      // Each document begins with another field, so that over time every text is in every field.
      const given = PLACES.map((name, at) => [name, some[(at + index) % some.length] ?? ''] as const);
      const { text, pages, bytes } = await printed(aQuote(Object.fromEntries(given) as Partial<PdfDocument>));
      const letters = squeezed(text);
      for (const [name, sent] of given) {
        if (READABLE.has(name) && isPlain(sent) && !letters.includes(squeezed(sent)))
          failures.push(`${name} lacks ${sent.slice(0, 80)}`);
      }
      const links = pages.flatMap((page) => page.links).filter((link) => !/^(https?|mailto):/.test(link));
      if (links.length > 0) failures.push(`links to ${links.join()}`);
      if (bytes.includes('/Subtype /Image') || bytes.includes('/JavaScript'))
        failures.push(`document ${index} holds more than text`);
      if (/root:[x*]?:0:0|redis:\/\//.test(text)) failures.push(`document ${index} tells a secret`);
    });
    expect(failures).toEqual([]);
  },
  LIMIT_MS,
);
