// Serves the OpenAPI document and its page. Both are made once, when first asked for (a third of a second), and need no key.
import { createHash } from 'node:crypto';
import { type Request, type Response, Router } from 'express';
import { release } from '#libs/release.ts';
import { isKnown } from '../http/entity-tag.ts';
import type { Route } from '../http/route.ts';
import { makeOpenApi } from './openapi.ts';
import { makePage } from './page.ts';
import { style } from './style.ts';

/** Nothing may be loaded or run; the page's own style is named by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function serveReference(routes: readonly Route[]): Router {
  const document = once(() => makeOpenApi(routes, release()));
  const router = Router({ caseSensitive: true, strict: true });
  router.get(
    '/openapi.json',
    fixed('application/json; charset=utf-8', () => JSON.stringify(document())),
  );
  router.get(
    '/docs',
    fixed('text/html; charset=utf-8', () => makePage(document()), { 'Content-Security-Policy': POLICY }),
  );
  return router;
}

function fixed(type: string, write: () => string, headers: Record<string, string> = {}) {
  const content = once(() => {
    const body = Buffer.from(write());
    return { body, tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 20)}"` };
  });
  return (request: Request, response: Response) => {
    const { body, tag } = content();
    response.set({ ETag: tag, 'Cache-Control': 'no-cache', ...headers });
    if (isKnown(request, tag)) response.status(304).end();
    else response.set('Content-Type', type).send(body);
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
