// The headers of every response of the portal: its pages are private, are not indexed by search engines and load nothing foreign.

import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

const headers = helmet({
  // The path holds the token of a link.
  referrerPolicy: { policy: 'no-referrer' },
  frameguard: { action: 'deny' },
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
  },
});

export function securityHeaders(request: Request, response: Response, next: NextFunction): void {
  response.set({ 'Cache-Control': 'no-store', 'X-Robots-Tag': 'noindex, nofollow, noarchive' });
  headers(request, response, next);
}
