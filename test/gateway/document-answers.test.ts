// What goes with a PDF to its caller: its name.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express, { type Response } from 'express';
import { sendPdf } from '../../services/gateway/http/send-pdf.ts';

/** How it answers from now on. */
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
  answer = (response) => sendPdf(response, number, { bytes: Buffer.from('%PDF-1.7\n%%EOF\n'), warnings: [] });

  const { headers } = await fetch(`http://127.0.0.1:${port}/`);

  expect(headers.get('Content-Disposition')).toBe(disposition);
});
