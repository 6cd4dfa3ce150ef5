// Turns an error into a page that tells the operator what happened.
import type { Request, Response } from 'express';
import type { VNode } from 'preact';
import { AppError } from '#libs/errors.ts';
import { isOutOfTime, isUnavailable } from '#libs/mongo/errors.ts';
import { html, renderPage } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { note } from '#libs/pages/parts.ts';
import { setRetryAfter } from '#libs/pages/retry-after.ts';
import type { Logger } from '#libs/service/logger.ts';
import { localPath, visitorOf } from '../session/visit.ts';
import { documentOf, frame } from './layout.ts';

export function sendProblem(error: unknown, log: Logger, request: Request, response: Response) {
  const { status, message } = problemOf(error);
  if (status >= 500) log.error({ err: error, path: request.path }, 'a request to the dashboard failed');
  const body = note('bad', message);
  const visitor = response.locals['visitor'] ? visitorOf(response) : undefined;
  const page = visitor
    ? frame({ title: 'Not done', section: '', body }, visitor)
    : documentOf('Not done', html`<body class="login"><main>${body}<p>${wayOn(status, request)}</p></main></body>`);
  setRetryAfter(response, status, error);
  response.status(status).set('Cache-Control', 'no-store').send(renderPage(page));
}

/** Returns the link of a page without a session. After the end of one it leads over the login back to the page of the form. */
function wayOn(status: number, request: Request): VNode {
  const from = request.get('Referer') ?? '';
  const page = URL.canParse(from) ? new URL(from) : undefined;
  if (status !== 401 || page?.host !== request.host) return html`<a href="/">To the overview</a>`;
  const next = localPath(page.pathname + page.search);
  return html`<a href=${`/login?${new URLSearchParams({ next })}`}>Log in, and back to the page</a>`;
}

/** Returns what the operator reads about an error. */
export function problemOf(error: unknown): { status: number; message: string } {
  if (error instanceof PageError || error instanceof AppError) return error;
  if (isUnavailable(error))
    return { status: 503, message: 'MongoDB is unavailable. Reload this page when it is back.' };
  if (isOutOfTime(error)) {
    return { status: 422, message: 'The search took longer than 5 seconds. Please choose a shorter time.' };
  }
  // The body parser throws errors with a status.
  const { status } = (error ?? {}) as { status?: number };
  if (status && status < 500) return { status, message: 'The request could not be read.' };
  return { status: 500, message: 'Something went wrong here. The log of the service operations says what.' };
}
