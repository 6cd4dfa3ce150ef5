// Guards against forms that another site sends: the origin of the request, and a token that only the page has.
import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { PageError } from './page-error.ts';

/** Rejects a form that another site sent. @throws PageError 403. */
export function requireSameOrigin(request: Request) {
  const origin = request.get('Origin');
  const site = request.get('Sec-Fetch-Site');
  const isForeign = origin !== undefined && hostOf(origin) !== request.host;
  if (isForeign || (site !== undefined && site !== 'same-origin')) {
    throw new PageError(403, 'Cross-site request rejected');
  }
}

/**
 * Rejects a form that another site sent, on pages without a cookie. Their referrer policy lets no address leave, so that
 * browsers send `Origin: null` with their forms; newer ones also say in `Sec-Fetch-Site` where a form came from.
 * @throws PageError 403.
 */
export function requireFormOfPage(request: Request) {
  const origin = request.get('Origin');
  const site = request.get('Sec-Fetch-Site');
  const isForeign = origin !== undefined && origin !== 'null' && hostOf(origin) !== request.host;
  if (isForeign || (site !== undefined && site !== 'same-origin')) {
    throw new PageError(403, 'Cross-site request rejected');
  }
}

/** Rejects a form without the token of the session. @throws PageError 403. */
export function requireToken(request: Request, expectedToken: string) {
  const { csrf } = (request.body ?? {}) as { csrf?: unknown };
  const given = Buffer.from(typeof csrf === 'string' ? csrf : '');
  const expected = Buffer.from(expectedToken);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new PageError(403, 'This form has expired and nothing was changed. Go back, reload the page and try again.');
  }
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
