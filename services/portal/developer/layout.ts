// The frame around every page of a developer: the account, the navigation, and the end of the session.
import type { VNode } from 'preact';
import { assetsOf } from '#libs/pages/assets.ts';
import { documentOf } from '#libs/pages/document.ts';
import { moment } from '#libs/pages/format.ts';
import { type Children, html } from '#libs/pages/html.ts';
import { action, badge, note, type Tone } from '#libs/pages/parts.ts';
import { may, type Visitor } from './visit.ts';

export interface Page {
  title: string;
  /** The path of the current entry in the navigation. */
  section: string;
  body: Children;
  status?: number;
  /** The name of the message that is not true of the page. Browsers keep an address with the message. */
  untrue?: string;
}

export const ENDPOINTS = '/developer';
export const EVENTS = '/developer/events';
export const LEAVE = '/developer/leave';

const SECTIONS = [
  [ENDPOINTS, 'Endpoints'],
  [EVENTS, 'Event types'],
] as const;

const assets = assetsOf({});

/** Draws the frame. @param message the outcome of the action that redirected here. */
export function frame(page: Page, visitor: Visitor, message?: { tone: Tone; text: string }): VNode {
  const { title, section, body } = page;
  return documentOf({
    title: `${title} · ${visitor.accountName}`,
    assets,
    body: html`<body>
      <a class="skip" href="#content">Skip to the content</a>
      <header>
        <a class="brand" href=${ENDPOINTS}><span class="mark" aria-hidden="true"></span><span class="owner">${visitor.accountName}</span></a>
        <nav aria-label="Sections">
          ${SECTIONS.map(
            ([path, name]) => html`<a href=${path} aria-current=${path === section ? 'page' : null}>${name}</a>`,
          )}
        </nav>
        <div class="who">
          ${may(visitor, 'webhooks:write') ? null : badge('reads only', 'quiet')}
          <small class="name">until ${moment(visitor.session.expires_at)} UTC</small>
          ${action({ to: LEAVE, csrf: visitor.session.csrf, label: 'Leave', tone: 'quiet' })}
        </div>
      </header>
      <main id="content" tabindex="-1">
        <div class="title"><h1>${title}</h1></div>
        ${message ? note(message.tone, message.text) : null} ${body}
      </main>
    </body>`,
  });
}

/** Draws a page without a session: one box, and perhaps a form. */
export function bareFrame(title: string, body: Children): VNode {
  return documentOf({
    title,
    assets,
    body: html`<body class="login">
      <main>
        <h1><span class="mark" aria-hidden="true"></span>${title}</h1>
        ${body}
      </main>
    </body>`,
  });
}
