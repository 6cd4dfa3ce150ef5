// Opens a link: a page with a button, and the exchange of the link's token for a session when the button is pressed.
import type { Request, Response } from 'express';
import { closePortalSession, isLiveLink, openPortalSession } from '#libs/models/portal/portal-session.ts';
import { requireSameOrigin } from '#libs/pages/form-guard.ts';
import { html, renderPage } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import type { SessionCookie } from './cookie.ts';
import { bareFrame, ENDPOINTS } from './layout.ts';
import { visitorOf } from './visit.ts';

const TOKEN_FORM = /^[\w-]{43}$/;

/** Returns the 404 of every token that opens no session, now or ever. Nothing tells the cases apart. */
const noSuchLink = () => new PageError(404, 'This link does not open anything. Make a new one with your API key.');

/** Shows the button. Programs that look at links in messages open this page and change nothing. */
export async function showLink(request: Request, response: Response) {
  const token = tokenOf(request);
  if (!(await isLiveLink(token))) throw noSuchLink();
  const page = bareFrame(
    'Webhooks',
    html`<form method="post" action=${`/developer/open/${token}`}>
      <p>Endpoints, event types and deliveries of an account, for the person who develops against it.</p>
      <button class="main" autofocus>Open</button>
    </form>`,
  );
  response.send(renderPage(page));
}

/** Exchanges the token. The address of the page that follows has no token. */
export function exchangeLink(cookie: SessionCookie) {
  return async (request: Request, response: Response) => {
    requireSameOrigin(request);
    const session = await openPortalSession(tokenOf(request));
    if (!session) throw noSuchLink();
    cookie.set(request, response, session);
    response.redirect(303, ENDPOINTS);
  };
}

/** Ends the session of this browser. The link stays as it is. */
export function leave(cookie: SessionCookie) {
  return async (request: Request, response: Response) => {
    await closePortalSession(visitorOf(response).session);
    cookie.clear(request, response);
    response.send(renderPage(bareFrame('Goodbye', html`<p>You have left this page.</p>`)));
  };
}

function tokenOf({ params }: Request): string {
  const token = String(params['token']);
  if (!TOKEN_FORM.test(token)) throw noSuchLink();
  return token;
}
