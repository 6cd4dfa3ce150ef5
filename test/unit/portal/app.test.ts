// The portal where nothing is: every answer has strict headers, and everything unknown is the same 404 page.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openOutbound } from '#libs/outbound/outbound.ts';
import { openSecretBox } from '#libs/secret-box.ts';
import { makeApp } from '../../../services/portal/app.ts';
import { testLog } from '../../support/workspace.ts';

const developer = {
  outbound: openOutbound({ allow: '' }),
  box: openSecretBox(randomBytes(32).toString('base64')),
  nudge: () => undefined,
  isPublicSecure: true,
};
const client = {
  print: () => Promise.reject(new Error('no renderer')),
  loadLogo: () => Promise.reject(new Error('no renderer')),
  box: developer.box,
  nudge: () => undefined,
};
const server = createServer(makeApp({ trustProxy: 0, developer, client, log: testLog }));
let url: string;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

describe.each([
  ['GET', '/'],
  ['GET', '/p/unknown'],
  ['POST', '/p/unknown/accept'],
  ['GET', '/p/%zz'],
  ['GET', '/assets/style-000000000000.css'],
])('%s %s', (method, path) => {
  test('when nothing is there, then the answer is a page for a person, with headers that let nothing out', async () => {
    const response = await fetch(`${url}${path}`, { method });
    const text = await response.text();

    expect(response.status).toBe(404);
    expect(text).toMatch(/^<!doctype html><html lang="en">.*ask the sender for a new link/s);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex, nofollow, noarchive',
    });
    const policy = String(headers['content-security-policy']).split(';');
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"]));
    expect(policy.filter((rule) => /unsafe|https?:|\*/.test(rule))).toEqual([]);
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('etag');
  });
});

test('when a page names its style sheet, then the sheet is there and may be kept', async () => {
  const [, path] = /<link rel="stylesheet" href="([^"]+)"/.exec(await (await fetch(url)).text()) ?? [];
  const response = await fetch(`${url}${path}`);

  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
  expect(response.headers.get('cache-control')).toMatch(/immutable/);
});
