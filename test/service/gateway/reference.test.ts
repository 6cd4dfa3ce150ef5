// The viewer of the OpenAPI document, its script, the guides and llms.txt as HTTP sends them.
import { request as send } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { guideNames } from '../../../services/gateway/reference/pages/guides.ts';
import { BUNDLE_PATH, readBundle } from '../../../services/gateway/reference/scalar/bundle.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Sends a request without a key. The body is as it was sent: `fetch` would unpack it. */
function sent(
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
) {
  return new Promise<{ status?: number | undefined; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      send(gateway.url + path, { method, headers }, (response) => {
        const parts: Buffer[] = [];
        response
          .on('data', (part: Buffer) => parts.push(part))
          .on('end', () =>
            resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }),
          );
      })
        .on('error', reject)
        .end();
    },
  );
}

const SERVED: Array<[path: string, type: string]> = [
  ['/openapi.json', 'application/json; charset=utf-8'],
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/start.js', 'text/javascript; charset=utf-8'],
  [BUNDLE_PATH, 'text/javascript; charset=utf-8'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ...guideNames.flatMap(
    (name): Array<[string, string]> => [
      [`/docs/guides/${name}`, 'text/html; charset=utf-8'],
      [`/docs/guides/${name}.md`, 'text/markdown; charset=utf-8'],
    ],
  ),
];

describe.each(SERVED)('%s', (path, type) => {
  test('when it is requested, then it has its type, plain and as gzip with the same content, and HEAD has the same headers', async () => {
    const plain = await sent(path);
    const packed = await sent(path, { headers: { 'Accept-Encoding': 'gzip' } });
    const head = await sent(path, { method: 'HEAD', headers: { 'Accept-Encoding': 'gzip' } });

    expect(plain).toMatchObject({ status: 200, headers: { 'content-type': type, vary: 'Accept-Encoding' } });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(packed.headers).toMatchObject({ 'content-type': type, 'content-encoding': 'gzip' });
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
    expect(head).toMatchObject({ status: 200, body: Buffer.alloc(0) });
    for (const name of ['etag', 'content-type', 'content-length', 'content-encoding', 'cache-control'])
      expect([name, head.headers[name]]).toEqual([name, packed.headers[name]]);
  });

  test('when it is requested again with its entity tag, then 304, and each encoding has a tag of its own', async () => {
    const tags = new Set<unknown>();
    for (const headers of [{}, { 'Accept-Encoding': 'gzip' }]) {
      const { headers: first } = await sent(path, { headers });
      tags.add(first['etag']);
      const again = await sent(path, { headers: { ...headers, 'If-None-Match': String(first['etag']) } });
      expect(again).toMatchObject({ status: 304, body: Buffer.alloc(0) });
    }
    expect(tags.size).toBe(2);
  });
});

test('when the script of the viewer is requested, then it may be kept for a year; everything else is asked for again', async () => {
  for (const [path] of SERVED) {
    const { headers } = await sent(path);
    const isLong = path === BUNDLE_PATH;
    expect([path, headers['cache-control']]).toEqual([
      path,
      isLong ? 'public, max-age=31536000, immutable' : 'no-cache',
    ]);
  }
  expect((await sent(BUNDLE_PATH)).body.equals(readBundle().plain())).toBe(true);
});

test('when the viewer is requested, then its policy allows scripts of this origin alone, and the page has none inline', async () => {
  const { headers, body } = await sent('/docs');
  const page = String(body);

  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data: blob:; media-src blob:; " +
      "frame-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(page.match(/<script[^>]*>[^<]/)).toBeNull();
  expect(page).not.toMatch(/javascript:|\son\w+=|\b(?:src|href)="(?:https?:)?\/\//i);
});

test('when a guide is requested, then its policy allows nothing but its own style', async () => {
  for (const name of guideNames) {
    const { headers } = await sent(`/docs/guides/${name}`);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
  }
});

test('when a method is not served, then 405 names those that are, as everywhere', async () => {
  for (const [path] of [...SERVED, ['/.well-known/billhook-keys']] as const)
    for (const method of ['POST', 'DELETE', 'OPTIONS']) {
      const { status, headers, body } = await sent(path, { method });
      expect([path, method, status, headers['allow'], JSON.parse(String(body)).code]).toEqual([
        path,
        method,
        405,
        'GET, HEAD',
        'method_not_allowed',
      ]);
    }
});

test('when another file is requested below /docs, then 404', async () => {
  const others = [
    '/docs/scalar-0.0.1.js',
    '/docs/scalar.js',
    '/docs/manifest.json',
    '/docs/guides',
    '/docs/guides/secure',
  ];
  for (const path of [...others, '/docs/guides/../../package.json', '/docs/guides/%2e%2e%2farchitecture.md', '/DOCS'])
    expect([path, (await sent(path)).status]).toEqual([path, 404]);
});

test('when a browser opens the bare address, then it is led to the reference, and any other client gets the 404 of an unknown path', async () => {
  const browser = await sent('/', {
    headers: { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
  });
  const program = await sent('/', { headers: { Accept: '*/*' } });
  const unknown = await sent('/nowhere', { headers: { Accept: 'text/html' } });

  expect(browser).toMatchObject({ status: 302, headers: { location: '/docs', vary: 'Accept' } });
  expect([program.status, unknown.status]).toEqual([404, 404]);
  expect(JSON.parse(program.body.toString())).toMatchObject({ code: 'route_not_found' });
});
