// The response of a PDF: the file's name, and whether the caller is still connected.
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express, { type Response } from 'express';
import { whenGone } from '../../../services/gateway/printing/caller-gone.ts';
import { sendPdf } from '../../../services/gateway/printing/send-pdf.ts';

/** How the server responds from now on. */
let answer: (response: Response) => void;
let port: number;
let close: () => void;
beforeAll(async () => {
  const app = express().get('/', (_request, response) => answer(response));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  close = () => {
    server.close();
    server.closeAllConnections();
  };
});
afterAll(() => close());

test.each([
  ['INV-0042', 'attachment; filename="INV-0042.pdf"'],
  ['filename=b', 'attachment; filename="filename=b.pdf"'],
  ['a filename=b', 'attachment; filename="a filename=b.pdf"'],
])('when the number of a document is %s, then its name is quoted once', async (number, disposition) => {
  const bytes = Buffer.from('%PDF-1.7\n%%EOF\n');
  answer = (response) => sendPdf({ response, reserve: () => undefined }, number, { bytes, warnings: [] });

  const { headers } = await fetch(`http://127.0.0.1:${port}/`);

  expect(headers.get('Content-Disposition')).toBe(disposition);
});

test('when a document has more warnings than fit into a header, then the header has the first of them and counts the rest', async () => {
  const bytes = Buffer.from('%PDF-1.7\n%%EOF\n');
  const warnings = Array.from({ length: 40 }, (_none, index) => `${'x'.repeat(90)}${index}: unknown`);
  answer = (response) => sendPdf({ response, reserve: () => undefined }, 'INV-0042', { bytes, warnings });

  const { headers } = await fetch(`http://127.0.0.1:${port}/`);

  const shown = headers.get('X-Document-Warnings')?.split('; ') ?? [];
  expect(shown.join('; ').length).toBeLessThan(2_100);
  expect(shown.slice(0, -1)).toEqual(warnings.slice(0, shown.length - 1));
  expect(shown.at(-1)).toBe(`and ${40 - (shown.length - 1)} more`);
});

test('when the caller disconnected before the check for it began, then it counts as disconnected at once', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  answer = (response) => {
    response.once('close', () => setImmediate(() => asked.resolve(whenGone(response))));
    caller.destroy();
  };
  const caller = connect(port, '127.0.0.1', () => caller.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'));

  expect(await asked.promise).toMatchObject({ aborted: true, reason: { status: 499 } });
});

test('when the response was sent, then the caller does not count as disconnected', async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  answer = (response) => {
    response.once('close', () => setImmediate(() => asked.resolve(whenGone(response))));
    response.end();
  };
  await fetch(`http://127.0.0.1:${port}/`);

  expect(await asked.promise).toMatchObject({ aborted: false });
});
