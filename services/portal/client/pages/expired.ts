// The page of a link that has expired: it shows nothing of the document, and offers a new link by mail.
import { html } from '#libs/pages/html.ts';
import type { Page } from '../layout.ts';
import type { Visit } from '../visit.ts';

export function expiredPage({ locale, home, csrf }: Visit): Page {
  const { title, text, button } = locale.words.expired;
  const body = html`<section class="card">
    <h1>${title}</h1>
    <p>${text}</p>
    <form method="post" action=${`${home}/renew`}>
      <input type="hidden" name="csrf" value=${csrf} />
      <p class="actions"><button class="main">${button}</button></p>
    </form>
  </section>`;
  return { title, body, status: 410 };
}
