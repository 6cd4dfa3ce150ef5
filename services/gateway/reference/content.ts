// A file that is sent as it is, with its gzip and a strong entity tag for each of the two.
import { hash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { isKnown } from '../http/entity-tag.ts';

export interface Content {
  tag: string;
  plain: () => Buffer;
  packed: () => Buffer;
}

export function contentOf(text: string): Content {
  const plain = Buffer.from(text);
  return { tag: tagOf(plain), plain: () => plain, packed: once(() => gzipSync(plain)) };
}

/** @param packed a file of gzip. */
export function contentOfPacked(packed: Buffer): Content {
  return { tag: tagOf(packed), plain: once(() => gunzipSync(packed)), packed: () => packed };
}

/** Makes the handler of a GET. `make` is called at the first request. */
export function sending(type: string, make: () => Content | Promise<Content>, headers: Record<string, string> = {}) {
  const content = once(make);
  return async (request: Request, response: Response) => {
    const { tag, plain, packed } = await content();
    const isPacked = request.acceptsEncodings('gzip') === 'gzip';
    const own = `"${tag}${isPacked ? '-gzip' : ''}"`;
    // The header may name the origin already.
    response.vary('Accept-Encoding').set({ ETag: own, 'Cache-Control': 'no-cache', ...headers });
    if (isKnown(request, own)) {
      response.status(304).end();
      return;
    }
    if (isPacked) response.set('Content-Encoding', 'gzip');
    response.set('Content-Type', type).send(isPacked ? packed() : plain());
  };
}

export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function tagOf(body: Buffer): string {
  return hash('sha256', body, 'base64url').slice(0, 20);
}
