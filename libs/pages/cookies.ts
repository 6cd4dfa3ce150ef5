// Cookies that hold a token: read from a request, and set so that no script and no other site gets at them.
import type { CookieOptions, Request } from 'express';

/** Returns the token in a cookie. A browser may send its cookies in any order. */
export function tokenIn(request: Request, name: string): string | undefined {
  return new RegExp(`(?:^|;\\s*)${name}=([\\w-]{43})(?:;|$)`).exec(request.headers.cookie ?? '')?.[1];
}

/** Returns the options of such a cookie. */
export function optionsOf(isSecure: boolean, path: string): CookieOptions {
  return {
    httpOnly: true,
    sameSite: 'strict',
    // Over plain HTTP, such as on loopback, a secure cookie would be lost.
    secure: isSecure,
    path,
  };
}
