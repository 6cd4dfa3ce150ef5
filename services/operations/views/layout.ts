// The frame around every page: head, navigation, and the logged-in operator.
import type { VNode } from 'preact';
import { documentOf as pageDocument } from '#libs/pages/document.ts';
import { type Children, html } from '#libs/pages/html.ts';
import { action, badge, note } from '#libs/pages/parts.ts';
import type { Visitor } from '../session/visit.ts';
import { assets } from './assets.ts';

export interface Page {
  title: string;
  /** The path of the current entry in the navigation. */
  section: string;
  body: Children;
  status?: number;
}

const SECTIONS = [
  ['/', 'Overview'],
  ['/requests', 'Requests'],
  ['/failures', 'Failures'],
  ['/deliveries', 'Deliveries'],
  ['/endpoints', 'Endpoints'],
  ['/mail', 'Mail'],
  ['/renders', 'Renders'],
  ['/accounts', 'Accounts'],
  ['/business', 'Business'],
  ['/bulk', 'Runs'],
  ['/audit', 'Audit'],
] as const;

export function documentOf(title: string, body: VNode): VNode {
  const script = assets.pathOf('refresh.js');
  return pageDocument({ title: `${title} · Billhook operations`, assets, script, body });
}

/** Draws the frame. @param message the outcome of the action that redirected here. */
export function frame(page: Page, visitor: Visitor, message?: { tone: 'good' | 'bad'; text: string }): VNode {
  const { title, section, body } = page;
  return documentOf(
    title,
    html`<body>
      <a class="skip" href="#content">Skip to the content</a>
      <header>
        <a class="brand" href="/"><span class="mark" aria-hidden="true"></span>Billhook</a>
        <nav aria-label="Sections">
          ${SECTIONS.map(
            ([path, name]) => html`<a href=${path} aria-current=${path === section ? 'page' : null}>${name}</a>`,
          )}
        </nav>
        <div class="who">
          <span class="name">${visitor.name}</span>
          ${visitor.role === 'viewer' ? badge('viewer', 'quiet') : null}
          ${action({ to: '/logout', csrf: visitor.csrf, label: 'Log out', tone: 'quiet' })}
        </div>
      </header>
      <main id="content" tabindex="-1">
        <div class="title">
          <h1>${title}</h1>
          <div class="refresh">
            <span id="refreshed" class="quiet"></span>
            <button id="refresh-toggle" class="quiet" hidden>Pause refresh</button>
          </div>
        </div>
        ${message ? note(message.tone, message.text) : null}
        ${body}
      </main>
    </body>`,
  );
}
