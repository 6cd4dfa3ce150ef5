// Links to the portal's page, on which the developer of the account looks after its webhooks without an API key.
import { appError } from '#libs/errors.ts';
import { insertPortalLink } from '#libs/models/portal/portal-link.ts';
import { portalLinkResponse } from '#libs/responses/webhook.ts';
import { created } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';

const notSetUp = () => appError('portal_not_set_up');

export const portalRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/v1/webhooks/portal-link',
    operation: 'createPortalLink',
    scope: 'webhooks:read',
    rechecksKey: true,
    docs: {
      title: 'Make a link to the portal',
      summary: 'Make a link to a page with the endpoints, event types and deliveries of the account',
      description:
        'The page may do what the calling key may do: a key with `webhooks:read` makes a page that only reads, and ' +
        'bodies of events are shown for `events:read`. It is valid for an hour, and ends with the key.',
      response: portalLinkResponse,
      conflict: notSetUp(),
    },
    handler: createPortalLink,
  }),
];

async function createPortalLink({ caller, commit, parts }: Context) {
  const { portalUrl } = parts;
  if (portalUrl === undefined) throw notSetUp();
  return commit(async ({ session, accountId }) => {
    const { keyId, expiresAt } = caller;
    const { token, link } = await insertPortalLink(session, { accountId, keyId, keyExpiresAt: expiresAt });
    const view = { id: String(link._id), expires_at: link.expires_at.toISOString() };
    const { href: url } = new URL(`/developer/open/${token}`, portalUrl);
    // A token is never stored, so the response that an Idempotency-Key replays has none.
    return { ...created({ ...view, url }), replayBody: created({ ...view, url: null }).body };
  });
}
