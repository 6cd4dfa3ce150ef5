// The frame around every page: head, navigation, and the logged-in operator.
import type { VNode } from 'preact';
import type { Visitor } from '../session/visit.ts';
import { assetPath } from './assets.ts';
import { type Children, html } from './html.ts';
import { action, badge, note } from './parts.ts';

export interface Page {
  title: string;
  /** The path of the current entry in the navigation. */
  section: string;
  body: Children;
  status?: number;
}

const SECTIONS = [
  ['/', 'Overview'],
  ['/failures', 'Failures'],
  ['/deliveries', 'Deliveries'],
  ['/endpoints', 'Endpoints'],
  ['/renders', 'Renders'],
  ['/accounts', 'Accounts'],
  ['/bulk', 'Runs'],
  ['/audit', 'Audit'],
] as const;

export function documentOf(title: string, body: VNode): VNode {
  return html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>${title} · Billhook operations</title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <link rel="icon" href=${assetPath('icon.svg')} type="image/svg+xml" />
      <link rel="stylesheet" href=${assetPath('style.css')} />
      <script src=${assetPath('refresh.js')} defer></script>
    </head>
    ${body}
  </html>`;
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
