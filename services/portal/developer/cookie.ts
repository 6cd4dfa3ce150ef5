// The cookie of a developer's session.
import type { Request, Response } from 'express';
import { optionsOf, tokenIn } from '#libs/pages/cookies.ts';

const NAME = 'billhook_developer';
/** A cookie with this prefix cannot be set by a neighbouring host name (RFC 6265bis). It needs https and the path `/`. */
const HOST_NAME = `__Host-${NAME}`;
const PATH = '/developer';

export interface SessionCookie {
  read(request: Request): string | undefined;
  set(request: Request, response: Response, session: { token: string; expiresAt: Date }): void;
  clear(request: Request, response: Response): void;
}

/** @param isPublicSecure true when browsers reach the portal by https, whatever the proxy in front of it says. */
export function sessionCookie(isPublicSecure: boolean): SessionCookie {
  const optionsFor = (request: Request) => {
    const isSecure = isPublicSecure || request.secure;
    return { name: isSecure ? HOST_NAME : NAME, options: optionsOf(isSecure, isSecure ? '/' : PATH) };
  };
  return {
    read: (request) => tokenIn(request, optionsFor(request).name),
    set(request, response, { token, expiresAt }) {
      const { name, options } = optionsFor(request);
      response.cookie(name, token, { ...options, expires: expiresAt });
    },
    clear(request, response) {
      const { name, options } = optionsFor(request);
      response.clearCookie(name, options);
    },
  };
}
