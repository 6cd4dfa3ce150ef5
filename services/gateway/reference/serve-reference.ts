// Serves the OpenAPI document and its page, which need no key. Both are made once.
import { createHash } from 'node:crypto';
import { type Request, type Response, Router } from 'express';
import { release } from '#libs/service/release.ts';
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

/** @param makesNow renders the page at start, so that the first request neither waits nor blocks others. */
export function serveReference(routes: readonly Route[], makesNow = false): Router {
  const document = once(() => makeOpenApi(routes, release()));
  const json = once(() => fixed(JSON.stringify(document())));
  const page = once(() => fixed(makePage(document())));
  if (makesNow) for (const make of [json, page]) make();
  const router = Router({ caseSensitive: true });
  router.get('/openapi.json', sending('application/json; charset=utf-8', json));
  router.get('/docs', sending('text/html; charset=utf-8', page, { 'Content-Security-Policy': POLICY }));
  return router;
}

interface Fixed {
  body: Buffer;
  tag: string;
}

function fixed(text: string): Fixed {
  const body = Buffer.from(text);
  return { body, tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 20)}"` };
}

function sending(type: string, content: () => Fixed, headers: Record<string, string> = {}) {
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
