// Lets pages of named origins call the API from a browser (CORS). Keys are sent by the page itself: no cookie is ever read.
import cors from 'cors';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { nameRequest } from './request-log.ts';

/** Request headers that a web page may send besides those that browsers always allow. */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'X-Request-Id',
  'traceparent',
  'tracestate',
];
/** Response headers that a web page may read besides those that browsers always show. */
const RESPONSE_HEADERS = [
  'Content-Disposition',
  'Dry-Run',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Repr-Digest',
  'Retry-After',
  'WWW-Authenticate',
  'X-Document-Warnings',
  'X-Request-Id',
];
/** Browsers keep a permission no longer than two hours. */
const PERMISSION_SECONDS = 7_200;

/** @param origins such as `https://app.example.com`, at least one. Pages of others get no permission. */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const allow = cors({
    // A list, also of one: a response then declares that it depends on the origin.
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: RESPONSE_HEADERS,
    maxAge: PERMISSION_SECONDS,
  });
  return (request: Request, response: Response, next: NextFunction) => {
    // Other OPTIONS are no preflight: the router rejects them with 405.
    const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (request.method === 'OPTIONS' && !isPreflight) return next();
    if (isPreflight) nameRequest(request, response);
    allow(request, response, next);
  };
}

/** @param text comma-separated. @returns the origins, and what is none as it was written. */
export function readOrigins(text: string): { origins: string[]; wrong: string[] } {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  // A pattern parses as a URL, and no browser ever sends it.
  const isOrigin = (name: string) => /^https?:[^*]+$/.test(name) && URL.parse(name)?.origin === name;
  return { origins: names.filter(isOrigin), wrong: names.filter((name) => !isOrigin(name)) };
}
