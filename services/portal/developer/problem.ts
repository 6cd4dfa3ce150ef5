// Turns an error into a page that says what happened, without anything about the system behind it.
import type { Request, Response } from 'express';
import { AppError } from '#libs/errors.ts';
import { isOutOfTime, isUnavailable } from '#libs/mongo/errors.ts';
import { type Children, html, renderPage } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { note } from '#libs/pages/parts.ts';
import { setRetryAfter } from '#libs/pages/retry-after.ts';
import type { Logger } from '#libs/service/logger.ts';
import { bareFrame, frame } from './layout.ts';
import { ENDED, type Visitor } from './visit.ts';

export function sendProblem(error: unknown, log: Logger, request: Request, response: Response) {
  const { status, message } = problemPage(error);
  // The address may hold the token of a link, so the log has the pattern of the path alone.
  if (status >= 500) log.error({ err: error, path: request.route?.path }, 'a request to the developer pages failed');
  const body = note('bad', message);
  // A session that has ended meanwhile shows nothing of the account.
  const visitor = status === 401 ? undefined : (response.locals['visitor'] as Visitor | undefined);
  const page = visitor ? frame({ title: 'Not done', section: '', body }, visitor) : bareFrame('Not done', body);
  setRetryAfter(response, status, error);
  response.status(status).send(renderPage(page));
}

/** Writes an error as the content of a note. All problems of a form are listed. */
export function problemText(error: AppError | PageError): Children {
  if (error instanceof PageError || error.problems.length === 0) return error.message;
  return html`<ul>${error.problems.map(({ message }) => html`<li>${message}</li>`)}</ul>`;
}

function problemPage(error: unknown): { status: number; message: Children } {
  if (error instanceof AppError && error.status === 401) return { status: 401, message: ENDED };
  if (error instanceof AppError || error instanceof PageError)
    return { status: error.status, message: problemText(error) };
  if (isUnavailable(error)) return { status: 503, message: 'This page is not available now. Reload it in a minute.' };
  if (isOutOfTime(error))
    return { status: 422, message: 'The search took too long. Choose a state, or no event type.' };
  // The body parser throws errors with a status.
  const { status } = (error ?? {}) as { status?: number };
  if (status && status < 500) return { status, message: 'The request could not be read.' };
  return { status: 500, message: 'Something went wrong here. Try it again later.' };
}
