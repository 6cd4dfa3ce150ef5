// Serves the OpenAPI document, its viewer, the guides, llms.txt and the public keys of signatures. None needs a key, and each but the
// public keys is made once, when it is first requested.
import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import { appError } from '#libs/errors.ts';
import { publicKeys } from '#libs/models/operations/signing-key.ts';
import { release } from '#libs/service/release.ts';
import type { Route } from '../http/route.ts';
import { type Content, contentOf, once, sending } from './content.ts';
import { makeOpenApi } from './openapi.ts';
import { GUIDE_POLICY, guideNames, guidePage, guideText } from './pages/guides.ts';
import { llmsText } from './pages/llms.ts';
import { VIEWER_POLICY, viewerPage, viewerStart } from './pages/viewer.ts';
import { BUNDLE_PATH, readBundle } from './scalar/bundle.ts';

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
/** The path of the bundle has its version. */
const LONG = { 'Cache-Control': 'public, max-age=31536000, immutable' };

export function serveReference(routes: readonly Route[]): RequestHandler {
  const document = once(async (): Promise<Content> => contentOf(JSON.stringify(await makeOpenApi(routes, release()))));
  const router = Router({ caseSensitive: true });
  router.get('/', leadBrowsers);
  const serve = (path: string, handler: RequestHandler) => {
    router.get(path, handler);
    router.all(path, () => {
      throw appError('method_not_allowed', undefined, { headers: { Allow: 'GET, HEAD' } });
    });
  };
  serve('/openapi.json', sending('application/json; charset=utf-8', document));
  serve(
    '/docs',
    sending(HTML, () => contentOf(viewerPage()), { 'Content-Security-Policy': VIEWER_POLICY }),
  );
  serve(
    '/docs/start.js',
    sending(SCRIPT, () => contentOf(viewerStart)),
  );
  serve(BUNDLE_PATH, sending(SCRIPT, readBundle, LONG));
  serve(
    '/llms.txt',
    sending('text/plain; charset=utf-8', () => contentOf(llmsText())),
  );
  serve('/.well-known/billhook-keys', async (_request, response) => {
    response.json(await publicKeys());
  });
  for (const name of guideNames) {
    const page = () => contentOf(guidePage(name));
    serve(`/docs/guides/${name}`, sending(HTML, page, { 'Content-Security-Policy': GUIDE_POLICY }));
    serve(
      `/docs/guides/${name}.md`,
      sending(MARKDOWN, () => contentOf(guideText(name))),
    );
  }
  return router;
}

/** Leads a browser from the bare address to the viewer. Any other client gets the 404 of an unknown path. */
function leadBrowsers(request: Request, response: Response, next: NextFunction) {
  response.vary('Accept');
  if (request.accepts(['json', 'html']) !== 'html') return next();
  response.redirect('/docs');
}
