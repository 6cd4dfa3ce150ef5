// The security headers of every page: no foreign origin, nothing inline, no frames.
import helmet from 'helmet';

export function securityHeaders() {
  return helmet({
    // With helmet's own `no-referrer`, browsers send forms with `Origin: null`, which any site could send.
    referrerPolicy: { policy: 'same-origin' },
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        scriptSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
  });
}
