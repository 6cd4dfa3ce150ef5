// The PDF tool over HTTP: rejected input, the file's name, and unavailable renderers, Redis and callers.
import { request as callHttp, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type RenderDocument, renderDocument } from '#libs/jobs/catalog.ts';
import { openQueues, type Queues } from '#libs/jobs/queue.ts';
import { listenForCancels, openReplies, type Replies, sendReply } from '#libs/jobs/replies.ts';
import { type JobHandler, type RunningWorker, startWorker } from '#libs/jobs/worker.ts';
import { Render } from '#libs/models/documents/render-record.ts';
import { openPrinting } from '#libs/printing/print-document.ts';
import { whenReady } from '#libs/redis/connection.ts';
import { makeApp } from '../../../services/gateway/app.ts';
import { eventually } from '../../support/eventually.ts';
import { appOptionsFor, type Call, callerOf } from '../../support/gateway.ts';
import { pdfOf } from '../../support/pdf-body.ts';
import { openWorkspace, type TestAccount, testLog, type Workspace } from '../../support/workspace.ts';

const PATH = '/api/tools/generate-pdf';
const PDF = Buffer.from('%PDF-1.4\n1 0 obj\n%%EOF\n');

const invoice = pdfOf('Invoice');

let workspace: Workspace;
let account: TestAccount;
let server: Server;
let call: ReturnType<typeof callerOf>;
let queues: Queues;
let replies: Replies;
let worker: RunningWorker;
/** Stands in for the renderers, on the real queue. */
let work: JobHandler<RenderDocument>;
let seen: unknown[] = [];

const replyWith =
  (reply: Parameters<typeof sendReply>[2]): typeof work =>
  async ({ document, replyTo }, { jobId }) => {
    seen.push(document);
    await sendReply(queues.redis, { prefix: workspace.redisPrefix, replyTo, id: jobId }, reply);
  };

beforeAll(async () => {
  workspace = await openWorkspace();
  account = await workspace.account();
  const { redisUrl, redisPrefix: prefix } = workspace;
  const parts = { redisUrl, prefix, log: testLog };
  queues = openQueues(parts);
  replies = openReplies({ ...parts, redis: queues.redis });
  worker = startWorker(renderDocument, (payload, context) => work(payload, context), { ...parts, concurrency: 20 });
  await whenReady(queues.redis, 60_000);
  const limits = { perAccount: 6, waiting: 10, waitMs: 10_000 };
  const print = openPrinting({ queues, replies, prefix, log: testLog, limits });
  server = createServer(makeApp({ ...appOptionsFor(workspace), print }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  call = callerOf(address(), account.key);
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await worker.close(1_000);
  replies.close();
  await queues.close();
  await workspace.close();
});

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const print = (given: object = {}, options: Call = {}) =>
  call('POST', PATH, { body: { ...invoice, ...given }, ...options });

describe('a document that can be printed', () => {
  test('when the body has names that the tool does not know, then a warning names each', async () => {
    work = replyWith({ bytes: PDF, warnings: ['logoUrl: unreachable'] });
    const { headers } = await print({ notez: 'x', 'no such: name': 1 });
    expect(headers.get('X-Document-Warnings')).toBe('logoUrl: unreachable; notez: unknown; no?such??name: unknown');
  });

  test('when the renderer responds, then the bytes are sent as a file, with no-store and nosniff', async () => {
    work = replyWith({ bytes: PDF, warnings: ['logoUrl: unreachable', 'amount: differs from the lines'] });
    const reply = await print();

    expect(reply.status).toBe(200);
    expect(reply.body).toEqual(PDF);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(PDF.length),
      'content-disposition': 'attachment; filename="INV-0042.pdf"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-document-warnings': 'logoUrl: unreachable; amount: differs from the lines',
    });
  });

  test('when there are more warnings than a header can carry, then it has the first ones in full and the total', async () => {
    const warnings = Array.from(
      { length: 500 },
      (_none, index) => `lineItems.${index}.description: no glyph for U+12000`,
    );
    work = replyWith({ bytes: PDF, warnings });
    const header = (await print()).headers.get('X-Document-Warnings') ?? '';

    const shown = header.split('; ');
    expect(header.length).toBeLessThan(2_100);
    expect(shown.slice(0, -1)).toEqual(warnings.slice(0, shown.length - 1));
    expect(shown.at(-1)).toBe(`and ${501 - shown.length} more`);
  });

  test('when fields are left out, empty or null, then the renderer gets the defaults', async () => {
    work = replyWith({ bytes: PDF, warnings: [] });
    seen = [];
    const reply = await print({ notes: '', terms: null, dueDate: null, unknown: 'field', taxRate: null });

    expect(reply.headers.get('X-Document-Warnings')).toBe('unknown: unknown');
    expect(seen).toEqual([
      {
        ...invoice,
        taxRate: 20,
        currencySymbol: '$',
        fontStyle: 'elegant',
        textScale: 1,
        showBanner: true,
        layoutType: 'standard',
        isQuote: false,
        requiresSignature: false,
      },
    ]);
  });

  test('when the title is Quote and isQuote is not given, then it has the labels of a quote', async () => {
    work = replyWith({ bytes: PDF, warnings: [] });
    seen = [];
    await print({ title: 'Quote' });
    await print({ title: 'Quote', isQuote: false });

    expect(seen).toMatchObject([{ isQuote: true }, { isQuote: false }]);
  });

  test.each([
    ['INV/2026\\01', 'INV-2026-01.pdf'],
    ['../../etc/passwd', 'etc-passwd.pdf'],
    ['a"b\r\nSet-Cookie: x=1', 'a-b-Set-Cookie- x=1.pdf'],
    ['...', 'document.pdf'],
  ])('when the number is %j, then the file is called %s', async (number, name) => {
    work = replyWith({ bytes: PDF, warnings: [] });
    // A number in a header must not have line breaks, but a text may.
    const reply = await print({ number });

    expect(reply.status).toBe(200);
    expect(reply.headers.get('Content-Disposition')).toBe(`attachment; filename="${name}"`);
    expect(reply.headers.get('Set-Cookie')).toBeNull();
  });

  test('when the number is not ASCII, then the name is given in both forms', async () => {
    work = replyWith({ bytes: PDF, warnings: [] });

    expect((await print({ number: 'Angebot №7' })).headers.get('Content-Disposition')).toMatch(
      /^attachment; filename="Angebot \?7\.pdf"; filename\*=UTF-8''Angebot%20%E2%84%967\.pdf$/,
    );
  });
});

describe('a document that is rejected', () => {
  const rejected: [string, object, string[]][] = [
    ['title', { title: 'Receipt' }, ['title']],
    ['dates', { date: '2026-02-29', dueDate: '21.11.2026', expiryDate: 20261121 }, ['date', 'dueDate', 'expiryDate']],
    ['amounts as text', { amount: '240', subtotal: '1', taxRate: '20' }, ['amount', 'subtotal', 'taxRate']],
    [
      'infinite amounts',
      { amount: 1e300, discountAmount: -1e13, shippingAmount: 1e13 },
      ['amount', 'discountAmount', 'shippingAmount'],
    ],
    ['tax', { taxRate: 100.01 }, ['taxRate']],
    ['negative tax', { taxRate: -1 }, ['taxRate']],
    ['small text', { textScale: 0.79 }, ['textScale']],
    ['large text', { textScale: 1.21 }, ['textScale']],
    ['enumerations', { fontStyle: 'gothic', layoutType: 'left' }, ['fontStyle', 'layoutType']],
    [
      'booleans as text',
      { isQuote: 'false', showBanner: 1, requiresSignature: 'yes' },
      ['isQuote', 'requiresSignature', 'showBanner'],
    ],
    ['a colour by name', { brandColor: 'red' }, ['brandColor']],
    ['a colour with markup', { brandColor: '#fff}</style><script>' }, ['brandColor']],
    ['a colour with a line break', { brandColor: '#fff\n' }, ['brandColor']],
    ['days', { paymentDueDays: -1 }, ['paymentDueDays']],
    ['half days', { paymentDueDays: 1.5 }, ['paymentDueDays']],
    [
      'decimals',
      {
        lineItems: [
          { qty: '1,5', rate: '1e3' },
          { qty: ' 1', rate: 'NaN' },
        ],
      },
      ['lineItems.0.qty', 'lineItems.0.rate', 'lineItems.1.qty', 'lineItems.1.rate'],
    ],
    ['lines that are not a list', { lineItems: 'Design' }, ['lineItems']],
    ['too many lines', { lineItems: Array(501).fill({ qty: 1 }) }, ['lineItems']],
    [
      'long strings',
      { clientName: 'x'.repeat(2_001), notes: 'x'.repeat(20_001), bodyMarkdown: 'x'.repeat(100_001) },
      ['bodyMarkdown', 'clientName', 'notes'],
    ],
    ['control characters', { clientName: 'a\u0000b', terms: '\ud800' }, ['clientName', 'terms']],
    ['addresses', { logoUrl: 'not a url', bannerUrl: 'ftp://example.com/a.png' }, ['bannerUrl', 'logoUrl']],
    ['schemes', { logoUrl: 'javascript:alert(1)', bannerUrl: 'file:///etc/passwd' }, ['bannerUrl', 'logoUrl']],
    ['data URIs', { logoUrl: 'data:image/png;base64,***', bannerUrl: 'data:text/html,<b>' }, ['bannerUrl', 'logoUrl']],
  ];

  test.each(rejected)('when %s are wrong, then 400 names each field', async (_what, given, fields) => {
    const reply = await print(given);

    expect(reply).toMatchObject({ status: 400, body: { error: 'Validation failed' } });
    expect(Object.keys(reply.body.details).toSorted()).toEqual(fields);
  });

  test('when a number is not a plain decimal, then 400 gives an example of one and no regular expression', async () => {
    const { body } = await print({ lineItems: [{ qty: '1,5', rate: true }] });

    expect(body.details).toEqual({
      'lineItems.0.qty': ['lineItems[0].qty must be a plain decimal such as 1.50'],
      'lineItems.0.rate': ['lineItems[0].rate must be a plain decimal such as 1.50'],
    });
  });

  test('when the body is empty, then every required field is named', async () => {
    const reply = await call('POST', PATH, { body: {} });

    expect(reply.body.details).toEqual(
      Object.fromEntries(Object.keys(invoice).map((field) => [field, [`${field} is required`]])),
    );
  });

  test('when the body is larger than three megabytes, then 413', async () => {
    expect((await call('POST', PATH, { raw: `{"notes":"${'x'.repeat(3_200_000)}"}` })).status).toBe(413);
  });

  test('when there is no key, or one without the scope, then 401 and 403', async () => {
    const { key } = await workspace.account({ scopes: ['clients:write'] });

    expect((await print({}, { key: undefined })).status).toBe(401);
    expect((await print({}, { key })).status).toBe(403);
  });

  test('when the method is not POST, then 405 names the allowed one', async () => {
    const reply = await call('GET', PATH);

    expect([reply.status, reply.headers.get('Allow')]).toEqual([405, 'POST']);
  });
});

describe('a renderer that fails', () => {
  test.each([422, 503, 504])('when it responds with %d, then the caller gets that as JSON', async (status) => {
    work = replyWith({ status, message: 'not today' });
    const reply = await print();

    expect(reply).toMatchObject({ status, body: { error: 'not today' } });
    expect(reply.headers.get('Content-Type')).toMatch(/json/);
    if (status === 503) expect(Number(reply.headers.get('Retry-After'))).toBeGreaterThan(0);
  });

  test.each([
    ['cut', PDF.subarray(0, 12)],
    ['something else', Buffer.from('<html>%%EOF')],
    ['empty', Buffer.alloc(0)],
  ])('when the PDF is %s, then the caller gets an error and no part of it', async (_what, bytes) => {
    work = replyWith({ bytes, warnings: [] });
    const reply = await print();

    expect(reply).toMatchObject({ status: 500, body: { error: 'Internal server error' } });
  });

  test('when the response is lost, then the document is enqueued again', async () => {
    let runs = 0;
    work = async (payload, context) => {
      runs += 1;
      // The first run completes without a reply, as if the reply had been lost.
      if (runs > 1) await replyWith({ bytes: PDF, warnings: [] })(payload, context);
    };

    expect((await print()).status).toBe(200);
    expect(runs).toBe(2);
  });

  test('when enqueuing it again fails, then it is tried once more', async () => {
    let runs = 0;
    const enqueue = jest.spyOn(queues, 'enqueue');
    work = async (payload, context) => {
      runs += 1;
      if (runs === 1) enqueue.mockRejectedValueOnce(new Error('unavailable'));
      else await replyWith({ bytes: PDF, warnings: [] })(payload, context);
    };

    const { status } = await print();
    const calls = enqueue.mock.calls.length;
    enqueue.mockRestore();

    expect([status, runs, calls]).toEqual([200, 2, 3]);
  });
});

describe('too many concurrent documents', () => {
  test('when one account has its share in flight, then 429, and others are served', async () => {
    const gate = Promise.withResolvers<void>();
    work = async (payload, context) => {
      await gate.promise;
      await replyWith({ bytes: PDF, warnings: [] })(payload, context);
    };
    const inFlight = Array.from({ length: 6 }, () => print());
    await eventually(async () => (await queues.counts(renderDocument)).active === 6);
    const other = await workspace.account();

    const rejected = await print();
    const unread = await call('POST', PATH, { raw: '{' });
    const served = print({}, { key: other.key });
    gate.resolve();

    // Rejected before the body is read, which would be 400.
    expect([rejected.status, unread.status]).toEqual([429, 429]);
    expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await served).status).toBe(200);
    expect((await Promise.all(inFlight)).map(({ status }) => status)).toEqual(Array(6).fill(200));
  });

  test('when many bodies are rejected in turn, then none of them keeps its reservation', async () => {
    const responses = [];
    for (let count = 0; count < 30; count += 1) responses.push((await call('POST', PATH, { raw: '{' })).status);

    expect(responses).toEqual(Array(30).fill(400));
  });

  test('when too many callers wait, then 503 with Retry-After, and all waiting callers are served', async () => {
    const gate = Promise.withResolvers<void>();
    work = async (payload, context) => {
      await gate.promise;
      await replyWith({ bytes: PDF, warnings: [] })(payload, context);
    };
    const other = await workspace.account();
    const inFlight = [...Array(5)].flatMap(() => [print(), print({}, { key: other.key })]);
    await eventually(async () => (await queues.counts(renderDocument)).active === 10);

    const rejected = await print({}, { key: other.key });
    // Accounts with nothing in flight have a quarter more capacity.
    for (let count = 0; count < 3; count += 1) inFlight.push(print({}, { key: (await workspace.account()).key }));
    await eventually(async () => (await queues.counts(renderDocument)).active === 13);
    // Neither key nor body is examined: a rejection must cost next to nothing.
    const unread = await call('POST', PATH, { key: undefined, raw: `{"notes":"${'x'.repeat(1_000_000)}` });
    gate.resolve();

    expect([rejected.status, unread.status]).toEqual([503, 503]);
    expect(Number(rejected.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await Promise.all(inFlight)).map(({ status }) => status)).toEqual(Array(13).fill(200));
  });
});

describe('a caller that disconnects', () => {
  test('when the document is being printed, then its renderer is notified', async () => {
    const aborted = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<string>();
    work = async (_payload, { signal, jobId }) => {
      begun.resolve(jobId);
      signal.addEventListener('abort', () => aborted.resolve());
      await aborted.promise;
    };
    const stopListening = listenForCancels(workspace.redisUrl, workspace.redisPrefix, testLog, (id) =>
      worker.cancel(id),
    );
    // A cancellation that is published before is lost.
    const channels = `${workspace.redisPrefix}:cancel*`;
    await eventually(async () => ((await queues.redis.pubsub('CHANNELS', channels)) as string[]).length > 0);
    const request = callHttp(`${address()}${PATH}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/json' },
    });
    request.on('error', () => undefined); // This test aborts the request itself.
    request.end(JSON.stringify({ ...invoice, number: 'GONE' }));
    await begun.promise;

    request.destroy();

    await aborted.promise;
    stopListening();
    const record = await eventually(() => Render.findOne({ account_id: account.id, status: 'cancelled' }).lean());
    expect(record).toMatchObject({ title: 'Invoice' });
  });
});
