// Puts the table of routes on an express router: authenticate, read, handle, answer; and says what else a path could do.
import express, { type Request, type Response, Router } from 'express';
import { AppError } from '#libs/errors.ts';
import { isId } from '#libs/models/tenant.ts';
import type { Answer } from './answer.ts';
import { authenticate } from './authenticate.ts';
import { commitFor } from './commit.ts';
import type { PageQuery } from './page.ts';
import { pageLinks } from './page.ts';
import type { Rates } from './rate-limit.ts';
import { readBody, readChanges, readQuery } from './read-input.ts';
import type { Route } from './route.ts';

const BODY_LIMIT_BYTES = 256 * 1024;

export interface ServeOptions {
  /** Called after a commit that wrote events. */
  nudge: () => void;
  /** Without it nothing is limited. */
  rates?: Rates | undefined;
}

export function serveRoutes(routes: readonly Route[], options: ServeOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const methodsOf = new Map<string, string[]>();
  for (const row of routes) {
    const path = row.path.replaceAll(/\{(\w+)\}/g, ':$1');
    router[row.method](path, (request, response) => serve(row, request, response, options));
    methodsOf.set(path, [...(methodsOf.get(path) ?? []), row.method.toUpperCase()]);
  }
  for (const [path, methods] of methodsOf) {
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
    router.all(path, () => {
      throw new AppError(405, 'Method not allowed', { headers: { Allow: allow } });
    });
  }
  return router;
}

async function serve(row: Route, request: Request, response: Response, { nudge, rates }: ServeOptions) {
  const caller = await admitted(row, rates, request, response);
  const missing = () => new AppError(404, row.missing ?? 'Not found');
  const id = String(request.params['id'] ?? '');
  // An id that cannot exist is answered like an id that does not exist.
  if (row.path.includes('{id}') && !isId(id)) throw missing();
  const query = row.query ? readQuery(request.query, row.query) : {};
  const body = row.body ? await readJson(row, request, response) : undefined;
  const requestId = String(request.id);
  const answer = await row.handler({
    caller,
    id,
    body,
    query,
    missing,
    requestId,
    request,
    response,
    log: request.log,
    commit: commitFor({ request, accountId: caller.accountId, requestId, nudge }),
  });
  if (answer) send(request, response, answer);
}

async function readJson(row: Route, request: Request, response: Response): Promise<unknown> {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (hasBody && !request.is('application/json')) {
    throw new AppError(415, 'Content-Type must be application/json');
  }
  await parserFor(row.bodyLimitBytes ?? BODY_LIMIT_BYTES)(request, response);
  row.before?.(request.body);
  // Only called for rows that have a body.
  const shape = row.body as NonNullable<Route['body']>;
  return row.method === 'patch'
    ? readChanges(request.body, shape, row.details)
    : readBody(request.body, shape, row.details);
}

type Parse = (request: Request, response: Response) => Promise<void>;
const parsers = new Map<number, Parse>();

function parserFor(limit: number): Parse {
  let parse = parsers.get(limit);
  if (!parse) {
    // Compressed bodies are refused: a few bytes could become gigabytes.
    const parser = express.json({ limit, inflate: false, strict: false, type: 'application/json' });
    parse = (request, response) =>
      new Promise((resolve, reject) =>
        parser(request, response, (error?: unknown) => (error ? reject(error) : resolve())),
      );
    parsers.set(limit, parse);
  }
  return parse;
}

async function admitted(row: Route, rates: Rates | undefined, request: Request, response: Response) {
  try {
    const caller = await authenticate(request, row.scope);
    await rates?.admit(request, response, caller, row);
    return caller;
  } catch (error) {
    if (error instanceof AppError && error.status === 401) await rates?.refuse(request, response);
    throw error;
  }
}

function send(request: Request, response: Response, { status, body, headers }: Answer) {
  const { pagination } = body as { pagination?: PageQuery & { total: number } };
  if (pagination) response.set('Link', pageLinks(request.originalUrl, pagination.total, pagination));
  response
    .status(status)
    .set(headers ?? {})
    .json(body);
}
