// The cookies of the dashboard: the session, and the browser in which an operator has logged in.
import type { Request, Response } from 'express';
import { BROWSER_LIFE_MS } from '#libs/models/operations/operator-browser.ts';
import { SESSION_LIFE_MS } from '#libs/models/operations/operator-session.ts';
import { optionsOf, tokenIn } from '#libs/pages/cookies.ts';

const SESSION = 'billhook_operations';
const BROWSER = 'billhook_browser';
/** The path of the browser's cookie, because only the login reads it. */
const LOGIN_PATH = '/login';

export function sessionTokenOf(request: Request): string | undefined {
  return tokenIn(request, SESSION);
}

export function browserTokenOf(request: Request): string | undefined {
  return tokenIn(request, BROWSER);
}

export function setSession(request: Request, response: Response, token: string) {
  response.cookie(SESSION, token, { ...optionsOf(request.secure, '/'), maxAge: SESSION_LIFE_MS });
}

export function clearSession(request: Request, response: Response) {
  response.clearCookie(SESSION, optionsOf(request.secure, '/'));
}

export function setBrowser(request: Request, response: Response, token: string) {
  response.cookie(BROWSER, token, { ...optionsOf(request.secure, LOGIN_PATH), maxAge: BROWSER_LIFE_MS });
}
