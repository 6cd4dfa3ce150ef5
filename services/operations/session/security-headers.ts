// What browsers may do with our pages: nothing from elsewhere, nothing inline, in nobody's frame.
import helmet from 'helmet';

export function securityHeaders() {
  return helmet({
    // With helmet's own `no-referrer` browsers send forms with `Origin: null`, which could be anybody's.
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
