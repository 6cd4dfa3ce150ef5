// The page that shows the secret of an endpoint, this once.
import { html } from '#libs/pages/html.ts';
import { note } from '#libs/pages/parts.ts';
import { ENDPOINTS, type Page } from '../layout.ts';

interface Shown {
  endpointId: string;
  url: string;
  secret: string;
  /** True of an endpoint that was made just now. */
  isNew: boolean;
}

export function secretPage({ endpointId, url, secret, isNew }: Shown): Page {
  const body = html`<div>
    ${note('warn', 'Copy the secret now. It is not shown again.')}
    <div class="card">
      <p class="url">${url}</p>
      <p><code class="secret">${secret}</code></p>
      <p class="quiet">Verify the signature of every call with it, as Standard Webhooks says.
        ${isNew ? null : ' The former secret signs beside it for 24 hours.'}</p>
    </div>
    <p><a class="button" href=${`${ENDPOINTS}/endpoints/${endpointId}`}>To the endpoint</a></p>
  </div>`;
  return { title: isNew ? 'Endpoint added' : 'New secret', section: ENDPOINTS, body };
}
